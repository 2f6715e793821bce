import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { sleep } from './clock.ts'
import type { Config } from './config.ts'
import { invalid } from './errors.ts'

/** Stores named files of a few megabytes each, in a local folder or an S3 bucket. Writes are atomic. */
export type ObjectStorage = {
  location: string
  put(name: string, bytes: Buffer): Promise<void>
  /** Returns undefined if the file does not exist. */
  get(name: string): Promise<Buffer | undefined>
}

type Settings = Pick<
  Config,
  'BACKUP_S3_ENDPOINT' | 'BACKUP_S3_REGION' | 'BACKUP_S3_ACCESS_KEY' | 'BACKUP_S3_SECRET_KEY'
>

const attempts = 6
const timeoutMs = 60_000

/** Opens `s3://bucket/folder` or a local folder. */
export function openObjectStorage(settings: Settings, location: string): ObjectStorage {
  return /^s3:/i.test(location) ? openBucket(settings, location) : openFolder(resolve(location))
}

function openFolder(folder: string): ObjectStorage {
  return {
    location: folder,
    async put(name, bytes) {
      const path = join(folder, name)
      await write(path, bytes).catch(async (error) => {
        // Removes the partial file, which may be what fills the disk.
        await rm(`${path}.part`, { force: true }).catch(() => {})
        throw invalid(`Can't write ${path}: ${error.message}. Check its space and permissions.`)
      })
    },
    get: (name) =>
      readFile(join(folder, name)).catch((error) => {
        if (error.code === 'ENOENT') return undefined
        throw invalid(`Can't read ${join(folder, name)}: ${error.message}. Use a folder that this user may read.`)
      }),
  }
}

async function write(path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await using file = await open(`${path}.part`, 'w', 0o600)
  await file.writeFile(bytes)
  await file.sync()
  await rename(`${path}.part`, path)
}

function openBucket(settings: Settings, location: string): ObjectStorage {
  const [, bucket, folder = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*?))?\/*$/i.exec(location) ?? []
  if (!bucket)
    throw invalid(`${JSON.stringify(location)} is not a backup location: use s3://bucket/folder or a folder's path.`)
  const { BACKUP_S3_ENDPOINT, BACKUP_S3_REGION, BACKUP_S3_ACCESS_KEY, BACKUP_S3_SECRET_KEY } = settings
  if (!BACKUP_S3_ACCESS_KEY || !BACKUP_S3_SECRET_KEY) {
    throw invalid('For a location that begins with s3:// set BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY.')
  }
  const client = new AwsClient({
    accessKeyId: BACKUP_S3_ACCESS_KEY,
    secretAccessKey: BACKUP_S3_SECRET_KEY,
    region: BACKUP_S3_REGION,
    service: 's3',
    retries: 0,
  })
  const base = [BACKUP_S3_ENDPOINT.replace(/\/+$/, ''), bucket, folder].filter(Boolean).join('/')
  const objectUrl = (name: string) => `${base}/${name.split('/').map(encodeURIComponent).join('/')}`
  return {
    location,
    async put(name, bytes) {
      // Signs the body's hash, so that S3 rejects damaged content.
      const headers = { 'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex') }
      await ask(client, objectUrl(name), { method: 'PUT', body: new Uint8Array(bytes), headers })
    },
    get: (name) => ask(client, objectUrl(name), { method: 'GET' }),
  }
}

/** Sends a request to S3. Retries when the storage is down or overloaded; other errors fail at once. */
async function ask(client: AwsClient, address: string, request: RequestInit): Promise<Buffer | undefined> {
  for (let attempt = 1; ; attempt++) {
    const problem = await answerTo(client, address, request)
    if (!('refusal' in problem)) return problem.bytes
    const what = `${request.method} ${address} failed`
    if (!problem.isPassing) throw invalid(`${what}: ${problem.refusal}. ${adviceFor(problem.refusal)}`)
    if (attempt === attempts) {
      const advice = 'Check BACKUP_S3_ENDPOINT. If it is right, retry when the storage is reachable.'
      throw invalid(`${what} ${attempts} times, most recently with ${problem.refusal}. ${advice}`)
    }
    await sleep(200 * 2 ** attempt)
  }
}

function adviceFor(refusal: string): string {
  if (!refusal.includes('AccessDenied')) return 'Check the BACKUP_S3_ settings.'
  return 'Allow the key to read and write objects, and to list the bucket, without which the storage hides that a file does not exist.'
}

type Answer = { bytes: Buffer | undefined } | { refusal: string; isPassing: boolean }

async function answerTo(client: AwsClient, address: string, request: RequestInit): Promise<Answer> {
  try {
    const answer = await client.fetch(address, { ...request, signal: AbortSignal.timeout(timeoutMs) })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (answer.ok) return { bytes }
    if (answer.status === 404 && request.method === 'GET' && !bytes.includes('NoSuchBucket'))
      return { bytes: undefined }
    const text = bytes.toString('utf8').slice(0, 500)
    return { refusal: `${answer.status} ${text}`.trim(), isPassing: isPassing(answer.status, text) }
  } catch (error) {
    const { message, cause } = error as Error
    return { refusal: [message, (cause as Error | undefined)?.message].filter(Boolean).join(': '), isPassing: true }
  }
}

/** Whether a retry may succeed. S3 returns 400 RequestTimeout for a body that arrives too slowly. */
function isPassing(status: number, text: string): boolean {
  return status >= 500 || status === 429 || text.includes('<Code>RequestTimeout</Code>')
}
