import { isAPIError } from 'better-auth/api'
import { AppError, badRequest, conflict, unauthorized } from '../../platform/errors.ts'

/** Returns an error of the identity library as one whose message people can act on; other errors as they are. */
export function explainLibrary(error: unknown): unknown {
  if (!isAPIError(error) || error.statusCode >= 500) return error
  const code = String(error.body?.code ?? '')
  if (code === 'INVALID_TWO_FACTOR_COOKIE') return unauthorized('This took too long. Sign in again.')
  if (/INVALID_(CODE|BACKUP_CODE)/.test(code)) {
    return unauthorized('The code is wrong. Enter the one that the app shows now.')
  }
  if (/LOCK|TOO_MANY/.test(code)) {
    return new AppError('rate_limit_exceeded', 'Too many wrong codes. Sign in again later.')
  }
  if (code === 'TOTP_ALREADY_ENABLED') return conflict('The second factor is on already. Turn it off first.')
  if (code.endsWith('_NOT_ENABLED')) return conflict('The second factor is off. Turn it on first.')
  if (error.status === 'CONFLICT') return conflict('Another sign-in uses this code right now. Enter another one.')
  return badRequest('This form is out of date. Open the page again.')
}
