import { once } from 'node:events'
import { expect, inject, test } from 'vitest'
import { startMailServer } from '../../test/mail-server.ts'
import { readConfig } from './config.ts'
import { sendEmail, UncertainEmailError } from './email.ts'
import { openLog } from './log.ts'
import { judgeFailure } from './refusal.ts'

const email = { to: 'owner@example.com', subject: 'Grüße', text: 'It was disabled.\n.\nSee https://example.com/\n' }

test("an e-mail is sent through the operator's mail server", async () => {
  const { port, said } = await startMailServer()
  await sendEmail(handlesFor(`smtp://127.0.0.1:${port}`), email)
  expect(said).toContain('MAIL FROM:<hello@tributary.example>')
  expect(said).toContain('RCPT TO:<owner@example.com>')
  expect(said).toContain('From: Tributary <hello@tributary.example>')
  expect(said).toContain('Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=')
  expect(said).toContain('It was disabled.')
})

test('an address with a comma is one recipient, not two', async () => {
  const { port, said } = await startMailServer()
  await sendEmail(handlesFor(`smtp://127.0.0.1:${port}`), { ...email, to: 'x,victim@example.com' }).catch(() => {})
  expect(said).not.toContain('RCPT TO:<victim@example.com>')
})

test('a mail server that rejects the e-mail or is unreachable causes an error', async () => {
  const { port } = await startMailServer({ RCPT: '550 nobody here' })
  await expect(sendEmail(handlesFor(`smtp://127.0.0.1:${port}`), email)).rejects.toThrow('nobody here')
  const stopped = await startMailServer()
  stopped.server.close()
  await once(stopped.server, 'close')
  await expect(sendEmail(handlesFor(`smtp://127.0.0.1:${stopped.port}`), email)).rejects.toThrow('ECONNREFUSED')
})

test.each([
  ['a rejected address', { RCPT: '550 nobody here' }, 'refused'],
  ['a rejected text', { DATA: '554 no' }, 'refused'],
  ['a full mailbox', { RCPT: '452 later' }, 'unavailable'],
])('%s is not retried for hours unless a retry may succeed', async (_name, answers, failure) => {
  const { port } = await startMailServer(answers)
  const error = await sendEmail(handlesFor(`smtp://127.0.0.1:${port}`), email).catch((error: unknown) => error)
  expect(judgeFailure(error)).toBe(failure)
})

test.each([
  ['before the message', 'DATA', false],
  ['after the message', '.', true],
])('a connection that ends %s leaves the outcome uncertain: %s', async (_name, verb, isUncertain) => {
  const { port, server } = await startMailServer()
  server.prependListener('connection', (socket) => {
    socket.on('data', (chunk) => {
      if (chunk.toString().split('\r\n').includes(verb)) socket.destroy()
    })
  })
  const error = await sendEmail(handlesFor(`smtp://127.0.0.1:${port}`), email).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(Error)
  expect(error instanceof UncertainEmailError).toBe(isUncertain)
})

test('an e-mail has its own headers, and no value adds another', async () => {
  const { port, said } = await startMailServer()
  const headers = { 'List-Unsubscribe': '<https://example.com/?token=1>', 'X-Name': 'a\r\nBcc: victim@example.com' }
  await sendEmail(handlesFor(`smtp://127.0.0.1:${port}`), { ...email, headers })
  expect(said).toContain('List-Unsubscribe: <https://example.com/?token=1>')
  expect(said.some((line) => line.startsWith('Bcc:'))).toBe(false)
})

test.each([
  ['development', { email }],
  ['production', { subject: email.subject, operatorCommand: 'tributary user link <e-mail>' }],
])('without a mail server, the log in %s has what the operator needs', async (ENVIRONMENT, logged) => {
  const lines: string[] = []
  const log = openLog('warn', { write: (line) => void lines.push(line) })
  const config = readConfig({ ...inject('environment'), ENVIRONMENT })
  await sendEmail({ config, log }, { ...email, operatorCommand: 'tributary user link <e-mail>' })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', ...logged, msg: 'e-mail not sent: SMTP_URL is not set' },
  ])
  expect(lines.join().includes(email.text.slice(0, 10))).toBe(ENVIRONMENT === 'development')
})

test('an e-mail with HTML has both parts', async () => {
  const { port, said } = await startMailServer()
  await sendEmail(handlesFor(`smtp://127.0.0.1:${port}`), { ...email, html: '<p>It was disabled.</p>' })
  expect(said.filter((line) => line.startsWith('Content-Type: text/'))).toHaveLength(2)
  expect(said).toContain('<p>It was disabled.</p>')
})

function handlesFor(SMTP_URL: string) {
  const given = { SMTP_URL, EMAIL_FROM: 'Tributary <hello@tributary.example>' }
  return { config: readConfig({ ...inject('environment'), ...given }), log: openLog('silent') }
}
