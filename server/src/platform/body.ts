import type { IncomingMessage } from 'node:http'
import type { BodyLimits } from '@tributary/contract/operation'
import type { Config } from './config.ts'
import { badRequest, invalid } from './errors.ts'

/** Maximum nesting of arrays and objects in request JSON. */
const maxDepth = 32
/** Limits for reading and dropping a rejected body: many clients read the response only after sending the whole body. */
const drainBytes = 16 * 1024 * 1024
const drainMs = 5_000
/** Requests whose body did not arrive in time. */
const late = new WeakSet<IncomingMessage>()

/** Reads a request body within the operation's size limit and BODY_DEADLINE_MS. */
export async function readBody(
  incoming: IncomingMessage,
  { bodyLimit }: Pick<BodyLimits, 'bodyLimit'>,
  config: Pick<Config, 'BODY_LIMIT_BYTES' | 'BODY_DEADLINE_MS'>,
): Promise<Buffer> {
  const limit = Math.min(bodyLimit, config.BODY_LIMIT_BYTES)
  const encoding = incoming.headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding !== '' && encoding !== 'identity') {
    await drain(incoming)
    throw badRequest('The header `Content-Encoding` is not supported. Send the body uncompressed.')
  }
  const announced = Number(incoming.headers['content-length'] ?? 0)
  const bytes = announced > limit ? undefined : await readUpTo(incoming, limit, config.BODY_DEADLINE_MS)
  if (bytes) return bytes
  await drain(incoming)
  const isOperators = limit === config.BODY_LIMIT_BYTES
  throw invalid(
    `The body is larger than ${limit} bytes, the limit ${isOperators ? 'BODY_LIMIT_BYTES of this server' : 'of this operation'}. Send less in one request.`,
  )
}

/** Returns the largest size the body can have: its Content-Length, or the operation's limit without that header. */
export function announcedBytes(incoming: IncomingMessage, { bodyLimit }: Pick<BodyLimits, 'bodyLimit'>): number {
  const length = incoming.headers['content-length']
  return Math.min(length === undefined ? bodyLimit : Number(length), bodyLimit)
}

/** Reads a request body; returns undefined when the body exceeds the limit. */
function readUpTo(incoming: IncomingMessage, limit: number, deadlineMs: number): Promise<Buffer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  const chunks: Buffer[] = []
  let length = 0
  const onData = (chunk: Buffer) => {
    length += chunk.length
    if (length > limit) resolve(undefined)
    else chunks.push(chunk)
  }
  const onEnd = () => resolve(Buffer.concat(chunks))
  const onBroken = () => reject(badRequest('The connection closed before the whole body arrived. Send it again.'))
  const onLate = () => {
    late.add(incoming)
    reject(badRequest(`The body did not arrive within ${deadlineMs} ms, the limit BODY_DEADLINE_MS. Send it again.`))
  }
  const deadline = setTimeout(onLate, deadlineMs)
  incoming.on('data', onData).on('end', onEnd).on('error', onBroken).on('aborted', onBroken)
  return promise.finally(() => {
    clearTimeout(deadline)
    incoming.off('data', onData).off('end', onEnd).off('aborted', onBroken)
  })
}

/**
 * Drains a rejected request body. With a Content-Length it reads to the end, so that the connection stays usable; a
 * chunked body is read until the size limit closes the connection.
 */
async function drain(incoming: IncomingMessage): Promise<void> {
  const announced = incoming.headers['content-length']
  if (Number(announced ?? 0) > drainBytes || incoming.readableEnded) return
  const { promise, resolve } = Promise.withResolvers<void>()
  let length = 0
  incoming.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > drainBytes) incoming.destroy()
  })
  incoming.on('end', resolve).on('error', resolve).on('close', resolve)
  if (announced === undefined) return
  const timer = setTimeout(resolve, drainMs)
  await promise
  clearTimeout(timer)
}

/** Whether part of the announced request body is unread, so that the connection can't be reused. */
export function hasUnreadBody(incoming: IncomingMessage): boolean {
  return !incoming.complete && (incoming.headers['content-length'] !== undefined || late.has(incoming))
}

export function parseJson(bytes: Buffer, { bodyValues }: Pick<BodyLimits, 'bodyValues'>): unknown {
  if (bytes.length === 0) return {}
  const problem = nestingProblem(bytes, bodyValues)
  if (problem) throw invalid(`The body ${problem}. Send less in one request.`)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message}.`)
  }
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Checks nesting before `JSON.parse`, which takes half a second for a megabyte of brackets. */
export function nestingProblem(bytes: Buffer, maxValues: number): string | undefined {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
    } else if (byte === openArray || byte === openObject) {
      depth++
      values++
    } else if (byte === closeArray || byte === closeObject) {
      depth--
    } else if (byte === comma) {
      values++
    }
    if (depth > maxDepth) return `has more than ${maxDepth} levels of arrays and objects`
    if (values > maxValues) return `has more than ${maxValues} values`
  }
  return undefined
}
