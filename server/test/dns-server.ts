import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decode, encode, type Packet, type StringAnswer, streamDecode, streamEncode, type TxtAnswer } from 'dns-packet'

export type DnsAnswer =
  | { type: 'A' | 'AAAA' | 'CNAME'; data: string }
  /** A list of texts is one TXT record with several parts. */
  | { type: 'TXT'; data: string | string[] }
/** Records of a name, or how its query fails. */
export type Zone = DnsAnswer[] | 'silent' | 'SERVFAIL' | 'REFUSED'
export type DnsServer = AsyncDisposable & { address: string; folder: string }

const codes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 }
const authoritative = 1 << 10
const truncated = 1 << 9
const longestDatagram = 512

/** Starts a DNS server on loopback. Its records are files in a folder, so that tests in any process can set them. */
export async function startDnsServer(): Promise<DnsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-dns-'))
  const { udp, tcp, port } = await bind()
  udp.on('message', async (message, peer) => {
    const answer = await answerTo(folder, decode(message))
    if (!answer) return
    const bytes = encode(answer)
    const short = { ...answer, answers: [], flags: (answer.flags ?? 0) | truncated }
    udp.send(bytes.length > longestDatagram ? encode(short) : bytes, peer.port, peer.address)
  })
  tcp.on('connection', (socket) => {
    socket.on('error', () => {})
    let received = Buffer.alloc(0)
    socket.on('data', async (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      const answer = await answerTo(folder, streamDecode(received) as Packet)
      received = Buffer.alloc(0)
      if (answer) socket.write(streamEncode(answer))
    })
  })
  return {
    address: `127.0.0.1:${port}`,
    folder,
    async [Symbol.asyncDispose]() {
      udp.close()
      tcp.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Sets the DNS records of a name. */
export async function setZone(server: Pick<DnsServer, 'folder'>, name: string, zone: Zone): Promise<void> {
  const file = join(server.folder, name.toLowerCase())
  await writeFile(`${file}~`, JSON.stringify(zone))
  await rename(`${file}~`, file)
}

async function bind(): Promise<{ udp: Socket; tcp: Server; port: number }> {
  for (;;) {
    const udp = createSocket('udp4')
    udp.bind(0, '127.0.0.1')
    await once(udp, 'listening')
    const { port } = udp.address()
    const tcp = createServer()
    const bound = await new Promise<boolean>((resolve) => {
      tcp.once('error', () => resolve(false))
      tcp.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (bound) return { udp, tcp, port }
    udp.close()
  }
}

async function answerTo(folder: string, query: Packet): Promise<Packet | undefined> {
  const asked = query.questions?.[0]
  if (!asked) return undefined
  const { answers, code } = await lookUp(folder, asked.name, asked.type)
  if (code === 'silent') return undefined
  return { type: 'response', id: query.id, flags: authoritative | codes[code], questions: [asked], answers }
}

type Answer = StringAnswer | TxtAnswer
type Found = { answers: Answer[]; code: keyof typeof codes | 'silent' }

/** Follows CNAME records within these zones, as a resolver does. */
async function lookUp(folder: string, name: string, type: string, hops = 0): Promise<Found> {
  const zone = await readZone(folder, name)
  if (!Array.isArray(zone)) return { answers: [], code: zone ?? 'NXDOMAIN' }
  const answers = zone.filter((record) => record.type === type || record.type === 'CNAME')
  const own = answers.map((record) => ({ ...record, name, ttl: 1 }) as Answer)
  const alias = answers.find((record) => record.type === 'CNAME')
  if (alias?.type !== 'CNAME' || type === 'CNAME' || hops > 8) return { answers: own, code: 'NOERROR' }
  const further = await lookUp(folder, alias.data, type, hops + 1)
  return { answers: [...own, ...further.answers], code: 'NOERROR' }
}

/** Reads the records of a name, or of the wildcard beside it. */
async function readZone(folder: string, name: string): Promise<Zone | undefined> {
  const asked = name.toLowerCase()
  for (const file of [asked, asked.replace(/^[^.]+/, '*')]) {
    try {
      return JSON.parse(await readFile(join(folder, file), 'utf8')) as Zone
    } catch {}
  }
  return undefined
}
