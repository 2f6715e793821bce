import { createTransport } from 'nodemailer'
import type { Platform } from './context.ts'
import { refuseInTransaction } from './postgres.ts'

export type Email = {
  to: string
  subject: string
  text: string
  html?: string
  headers?: Record<string, string>
  /** The command with which the operator can help when no mail server is configured. */
  operatorCommand?: string
}

/** The connection broke after the whole e-mail was sent and before the mail server answered: it may have the e-mail. */
export class UncertainEmailError extends Error {}

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
  let isWritten = false
  transport.use('stream', (mail, done) => {
    mail.message.processFunc((input) => input.once('end', () => (isWritten = true)))
    done()
  })
  try {
    // As an object, because nodemailer reads a string as a list of addresses.
    await transport.sendMail({ from: config.EMAIL_FROM, to: { name: '', address: to }, ...email })
  } catch (error) {
    const { message, responseCode } = error as Error & { responseCode?: number }
    throw isWritten && responseCode === undefined ? new UncertainEmailError(message, { cause: error }) : error
  } finally {
    transport.close()
  }
}
