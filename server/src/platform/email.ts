import { createTransport } from 'nodemailer'
import type { Platform } from './context.ts'
import { refuseInTransaction } from './postgres.ts'

export type Email = {
  to: string
  subject: string
  text: string
  html?: string
  /** The command with which the operator can help when no mail server is configured. */
  operatorCommand?: string
}

const timeoutMs = 10_000

/**
 * Sends an e-mail through SMTP_URL. Without that setting, it logs a warning; only in development has the warning the
 * e-mail itself, which may contain links that sign people in.
 */
export async function sendEmail(
  { config, log }: Pick<Platform, 'config' | 'log'>,
  { operatorCommand, to, ...email }: Email,
): Promise<void> {
  refuseInTransaction('E-mail')
  if (!config.SMTP_URL) {
    const shown = config.ENVIRONMENT === 'development' ? { email: { to, ...email } } : { subject: email.subject }
    log.warn({ ...shown, ...(operatorCommand && { operatorCommand }) }, 'e-mail not sent: SMTP_URL is not set')
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
    // As an object, because nodemailer reads a string as a list of addresses.
    await transport.sendMail({ from: config.EMAIL_FROM, to: { name: '', address: to }, ...email })
  } finally {
    transport.close()
  }
}
