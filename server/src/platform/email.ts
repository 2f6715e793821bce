import { createTransport } from 'nodemailer'
import type { Platform } from './context.ts'
import { refuseInTransaction } from './postgres.ts'

export type Email = { to: string; subject: string; text: string }

const timeoutMs = 10_000

/** Sends an e-mail through SMTP_URL; without that setting, logs the e-mail as a warning. */
export async function sendEmail({ config, log }: Pick<Platform, 'config' | 'log'>, email: Email): Promise<void> {
  refuseInTransaction('E-mail')
  if (!config.SMTP_URL) {
    log.warn({ email }, 'e-mail not sent: SMTP_URL is not set')
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
