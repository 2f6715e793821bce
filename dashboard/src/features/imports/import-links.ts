import { call } from '../../app/call.ts'
import { sendChunks } from './chunks.ts'
import type { ImportedRow } from './rows.ts'

export type Failure = { row: ImportedRow; message: string }
type Run = { workspace: string; signal: AbortSignal; onProgress(done: number): void }

/** Asks the server what it would reject. Nothing is created; tags and folders of the file don't have to exist. */
export async function checkRows(rows: readonly ImportedRow[], { workspace, ...run }: Run): Promise<Failure[]> {
  const send = (chunk: readonly ImportedRow[]) =>
    call('checkLinks', { body: chunk.map(({ link }) => link), signal: run.signal }, workspace)
  const checks = await sendChunks(rows, send, run)
  return rows.flatMap((row, index) => {
    const message = checks[index]?.error
    return message ? [{ row, message }] : []
  })
}

/** Creates tags and folders that are missing, then the links. Returns what was rejected. */
export async function importRows(rows: readonly ImportedRow[], { workspace, ...run }: Run): Promise<Failure[]> {
  await createTags([...new Set(rows.flatMap(({ tags }) => tags))], workspace)
  const folders = await createFolders([...new Set(rows.flatMap(({ folder }) => folder || []))], workspace)
  const send = async (chunk: readonly ImportedRow[]) => {
    const body = chunk.map(({ link, tags, folder }) => ({
      ...link,
      ...(tags.length > 0 && { tagNames: tags }),
      ...(folder && { folderId: folders.get(folder.toLowerCase()) }),
    }))
    const headers = { 'idempotency-key': chunkKey(body) }
    return call('bulkCreateLinks', { body, headers }, workspace)
  }
  const made = await sendChunks(rows, send, run)
  return rows.flatMap((row, index) => {
    const outcome = made[index]
    return outcome && 'error' in outcome ? [{ row, message: outcome.error }] : []
  })
}

const started = Date.now().toString(36)

/** The same for a repeated request, so that no link is created twice. */
function chunkKey(body: readonly object[]): string {
  const text = JSON.stringify(body)
  const hash = [...text].reduce((sum, sign) => (Math.imul(sum, 31) + sign.charCodeAt(0)) | 0, 7)
  return `import-${started}-${text.length}-${hash >>> 0}`
}

async function createTags(names: readonly string[], workspace: string): Promise<void> {
  const known = await readAll((page) => call('getTags', { query: { page, pageSize: 100 } }, workspace))
  const existing = new Set(known.map(({ name }) => name.toLowerCase()))
  const run = { signal: new AbortController().signal, onProgress: () => {} }
  const missing = names.filter((name) => !existing.has(name.toLowerCase()))
  await sendChunks(
    missing,
    async (chunk) => {
      for (const name of chunk) await call('createTag', { body: { name } }, workspace)
      return chunk
    },
    run,
  )
}

/** Returns the id of each folder by its name in lower case. */
async function createFolders(names: readonly string[], workspace: string): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const known = await readAll((page) => call('listFolders', { query: { page, pageSize: 50 } }, workspace), 50)
  const ids = new Map(known.map(({ id, name }) => [name.toLowerCase(), id]))
  for (const name of names) {
    if (ids.has(name.toLowerCase())) continue
    const { id } = await call('createFolder', { body: { name } }, workspace)
    ids.set(name.toLowerCase(), id)
  }
  return ids
}

async function readAll<T>(read: (page: number) => Promise<T[]>, size = 100): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; ; page += 1) {
    const items = await read(page)
    all.push(...items)
    if (items.length < size) return all
  }
}
