import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { eventually } from './stack.ts'

export type Received = { to: string; raw: string; text: string }
export type Mailbox = {
  url: string
  received: Received[]
  /** Waits for the newest e-mail to this address and returns it. */
  waitFor(to: string, seen?: number): Promise<Received>
  /** Waits for an e-mail and returns the path and query of its link. */
  waitForLink(to: string, seen?: number): Promise<string>
  stop(): Promise<void>
}

/** Starts an SMTP server that stores what it receives. */
export async function startMailbox(): Promise<Mailbox> {
  const received: Received[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('utf8')
        for (const { address } of session.envelope.rcptTo) received.push({ to: address, raw, text: decode(raw) })
        done()
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const find = (to: string) => received.filter((mail) => mail.to === to)
  const waitFor = (to: string, seen = 0) =>
    eventually(async () => {
      const mail = find(to)[seen]
      if (!mail) throw new Error(`${to} has ${find(to).length} e-mails`)
      return mail
    }, 20_000)
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received,
    waitFor,
    async waitForLink(to, seen) {
      const { text } = await waitFor(to, seen)
      const { pathname, search } = new URL(/https?:\/\/\S+\?token=\S+/.exec(text)?.[0] ?? '')
      return pathname + search
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Decodes the quoted-printable parts of a message. */
function decode(raw: string): string {
  const joined = raw.replaceAll(/=\r?\n/g, '')
  return joined.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
