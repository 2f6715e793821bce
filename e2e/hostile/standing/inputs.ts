import { hash } from 'node:crypto'
import { openRandom, type Random } from '../../../server/test/random.ts'
import { makeGarbage } from './garbage.ts'
import { makeRequest, type Request } from './requests.ts'
import type { Tenant } from './tenant.ts'
import { makeVisit } from './visits.ts'
import type { Way } from './wire.ts'

/** What is sent on one connection: one request, several at once, or bytes that are none. */
export type Input = Way & { number: number; server: Server; names: string[] }
type Addressed = Request & { host: string }

export type Server = 'api' | 'redirect'

/** Three of ten inputs are for the API: every installation has more visits than calls of its API. */
export function findServer(number: number): Server {
  return number % 10 < 3 ? 'api' : 'redirect'
}

/** Returns the input with this number: the same for the same seed and tenants. */
export function makeInput(seed: number, number: number, tenants: Tenant[]): Input {
  const random = openRandom(Number.parseInt(hash('sha1', `${seed} ${number}`).slice(0, 13), 16))
  const tenant = random.pick(tenants)
  const server = findServer(number)
  const make = (): Addressed =>
    server === 'api' ? { host: '127.0.0.1', ...makeRequest(random, tenant) } : makeVisit(random, tenant)
  const roll = random.below(200)
  if (roll < 4) {
    const bytes = makeGarbage(random, server === 'api' ? '127.0.0.1' : tenant.objects.domain)
    return { number, server, names: ['socket'], ...alone([bytes], 'hold', 1_500), heads: [false] }
  }
  const made = roll < 12 ? Array.from({ length: 2 + random.below(6) }, make) : [make()]
  // A stream ends only with its connection.
  const stream = made.find(({ isStream }) => isStream)
  const requests = stream ? [stream] : made
  return { number, server, names: requests.map(({ name }) => name), ...chooseWay(requests, roll, random) }
}

function chooseWay(requests: Addressed[], roll: number, random: Random): Way {
  const [first] = requests as [Addressed]
  const heads = requests.map(({ method }) => method === 'HEAD')
  if (first.isStream) return { ...alone([toBytes(first)], 'hold', random.pick([50, 500, 2_000])), heads }
  const bytes = Buffer.concat(requests.map((request) => toBytes(request)))
  if (roll === 12 || roll === 13) return { ...alone([toBytes(first, true)], 'wait'), heads }
  if (roll === 14) return { ...alone(slice(bytes, 6), 'wait'), pauseMs: 200, heads }
  if (roll === 15) return { ...alone([bytes.subarray(0, random.below(bytes.length))], 'hold', 5_000), heads }
  if (roll === 16) return { ...alone([bytes], 'reset', random.pick([0, 1, 10, 100])), heads }
  if (roll === 17) return { ...alone([bytes], 'end'), heads }
  return { parts: [bytes], after: 'wait', isShared: requests.length === 1, heads }
}

function alone(parts: Buffer[], after: Way['after'], readForMs?: number): Omit<Way, 'heads'> {
  return { parts, after, readForMs, isShared: false }
}

function slice(bytes: Buffer, count: number): Buffer[] {
  const length = Math.ceil(bytes.length / count)
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * length, (index + 1) * length))
}

function toBytes({ method, target, host, headers, body }: Addressed, isChunked = false): Buffer {
  const framing =
    isChunked && body ? 'Transfer-Encoding: chunked\r\n' : body ? `Content-Length: ${body.length}\r\n` : ''
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${lines}${framing}\r\n`, 'latin1')
  if (!body) return head
  return isChunked ? Buffer.concat([head, ...toChunks(body)]) : Buffer.concat([head, body])
}

function toChunks(body: Buffer): Buffer[] {
  const parts = slice(body, 3).filter(({ length }) => length > 0)
  const chunks = parts.flatMap((part) => [
    Buffer.from(`${part.length.toString(16)};a=b\r\n`),
    part,
    Buffer.from('\r\n'),
  ])
  return [...chunks, Buffer.from('0\r\nX-Trailer: a\r\n\r\n')]
}
