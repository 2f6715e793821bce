import { createTransport } from 'nodemailer'
import type { Platform } from './context.ts'
import { refuseInTransaction } from './postgres.ts'

export type Email = { to: string; subject: string; text: string }

const timeoutMs = 10_000

/** Hands it to the server of the operator; an installation that has none shows it in its log. */
export async function sendEmail({ config, log }: Pick<Platform, 'config' | 'log'>, email: Email): Promise<void> {
  refuseInTransaction('E-mail')
  if (!config.SMTP_URL) {
    log.warn({ email }, 'An e-mail was not sent, because SMTP_URL is not set')
    return
  }
  const transport = createTransport({
    url: config.SMTP_URL,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.sendMail({ from: config.EMAIL_FROM, ...email })
  } finally {
    transport.close()
  }
}
