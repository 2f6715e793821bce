import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { ConfigError } from './config.ts'

const timeoutMs = 600_000

/**
 * Downloads from the first URL that exists. These URLs come from settings and may point to private networks; use
 * outbound.ts for URLs of users.
 */
export async function startDownload(...urls: string[]): Promise<{ url: string; response: Response }> {
  const tried: string[] = []
  for (const url of new Set(urls)) {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
    if (response.ok) return { url, response }
    await response.body?.cancel()
    tried.push(`${url} returned ${response.status}`)
  }
  throw new Error(tried.join(', '))
}

/** Downloads a text of at most `maxBytes`. */
export async function downloadText(url: string, maxBytes: number): Promise<string> {
  const { response } = await startDownload(url)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`${url} returned more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Writes to a temporary file, then renames it to `file` when it is complete. */
export async function replaceFile<T>(file: string, write: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = `${file}.${randomUUID()}.part`
  try {
    const result = await write(temporary)
    await rename(temporary, file)
    return result
  } catch (error) {
    await rm(temporary, { force: true })
    const { cause, message } = error as Error
    throw new ConfigError(`${file} was not updated: ${(cause instanceof Error && cause.message) || message}.`)
  }
}
