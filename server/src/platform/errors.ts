import { type ErrorCode, type ErrorEnvelope, errorStatuses } from '@tributary/contract/operation'

/** An error whose message is sent to the client; all other errors become a generic 500. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: (typeof errorStatuses)[ErrorCode]

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.name = 'AppError'
    this.code = code
    this.status = errorStatuses[code]
  }
}

export const badRequest = (message: string) => new AppError('bad_request', message)
export const unauthorized = (message: string) => new AppError('unauthorized', message)
export const forbidden = (message: string) => new AppError('forbidden', message)
export const notFound = (noun: string, id: string) =>
  new AppError('not_found', `There is no ${noun} ${id} in this workspace.`)
export const conflict = (message: string) => new AppError('conflict', message)
export const invalid = (message: string) => new AppError('unprocessable_entity', message)

export function errorEnvelope({ code, message }: AppError, apiUrl: string): ErrorEnvelope {
  return { error: { code, message, doc_url: `${apiUrl}/docs/errors/${code}` } }
}
