import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { Config } from '../../platform/config.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { openAsyncMemo } from '../../platform/memo.ts'
import { fetchOutbound, OutboundError } from '../../platform/outbound.ts'
import type { Decoded } from './decode.ts'
import { gate, lanes } from './gate.ts'

export type LoadedLogo = Decoded & { hash: string }

const maxBytes = 1_048_576
const fetchTimeoutMs = 5_000
const decodeTimeoutMs = 5_000
const goodForMs = 600_000
const badForMs = 30_000
const damaged = "can't be decoded: it is damaged, or needs too much memory."

/** Fetches, decodes and caches logos; a logo that many QR codes show is fetched once in ten minutes. */
export function openLogos(config: Config): (source: string, visitor: string) => Promise<LoadedLogo> {
  const fetching = gate(20, 100)
  const decoding = gate(2, 100)
  const fetchLanes = lanes({ atOnce: 4, mostWaiting: 20 })
  const decodeLanes = lanes({ atOnce: 1, mostWaiting: 20, pauseFactor: 3, longestPauseMs: 15_000 })
  const cache = openAsyncMemo<LoadedLogo | AppError>({
    maxBytes: 16 * 1_048_576,
    measure: (logo) => (logo instanceof AppError ? 0 : logo.pixels.data.length + logo.png.length),
    ttlMs: (logo) => (logo instanceof AppError ? badForMs : goodForMs),
  })

  async function load(source: string, visitor: string): Promise<LoadedLogo | AppError> {
    try {
      const fetched = () => fetchLanes(visitor, () => fetching(() => fetchBytes(source, config)))
      const bytes = inlineBytes(source) ?? (await fetched())
      const decoded = await decodeLanes(visitor, () => decoding(() => decode(bytes)))
      return { ...decoded, hash: hashContent(bytes) }
    } catch (error) {
      if (error instanceof AppError && error.code === 'unprocessable_entity') return error
      throw error
    }
  }

  return async (source, visitor) => {
    const logo = await cache(hashContent(source), () => load(source, visitor))
    if (logo instanceof AppError) throw logo
    return logo
  }
}

function inlineBytes(source: string): Buffer | undefined {
  const [, data] = /^data:image\/(?:png|jpe?g);base64,([\w+/ -]+={0,2})$/i.exec(source) ?? []
  // A + of the base64 text that was not percent-encoded arrives as a space.
  return data === undefined ? undefined : Buffer.from(data.replaceAll(' ', '+'), 'base64')
}

async function fetchBytes(source: string, config: Config): Promise<Buffer> {
  if (!/^https?:\/\//i.test(source)) {
    throw problem('must be an http(s) URL, or a data URL of a PNG or JPEG in base64.')
  }
  try {
    const headers = { accept: 'image/png, image/jpeg', 'user-agent': 'Tributary' }
    const answer = await fetchOutbound(source, { timeoutMs: fetchTimeoutMs, maxBytes, headers, allow: config })
    if (answer.status === 200) return answer.body
    throw problem(`could not be fetched: its server responded with status ${answer.status} instead of 200.`)
  } catch (error) {
    throw error instanceof OutboundError ? refusal(error) : error
  }
}

/** Explains why a logo could not be fetched, without details that would reveal this server's network. */
function refusal({ reason }: OutboundError): AppError {
  switch (reason) {
    case 'size':
      return problem(`is larger than the limit of ${maxBytes} bytes.`)
    case 'credentials':
      return problem('must not contain a user name or password.')
    case 'port':
      return problem('must use port 80 or 443.')
    case 'url':
      return problem('is not a valid URL.')
    default:
      return problem('could not be fetched: its host is not public, or did not respond properly within 5 s.')
  }
}

/** Decodes a logo in a worker thread, because even a small file can keep a decoder busy for long. */
function decode(bytes: Buffer): Promise<Decoded> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./decode-thread.ts', import.meta.url), {
      workerData: new Uint8Array(bytes),
      resourceLimits: { maxOldGenerationSizeMb: 256 },
      env: {},
    })
    const timer = setTimeout(() => finish(problem('takes too long to decode.')), decodeTimeoutMs)
    const finish = (outcome: Decoded | AppError) => {
      clearTimeout(timer)
      thread.terminate().catch(() => {})
      if (outcome instanceof AppError) reject(outcome)
      else resolve(outcome)
    }
    thread.once('message', ({ decoded, problem: complaint }: { decoded?: Decoded; problem?: string }) => {
      finish(decoded ?? problem(complaint ?? damaged))
    })
    thread.once('error', () => finish(problem(damaged)))
    thread.once('exit', () => finish(problem(damaged)))
  })
}

function problem(complaint: string): AppError {
  return invalid(`\`logo\` in the query ${complaint}`)
}

function hashContent(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url')
}
