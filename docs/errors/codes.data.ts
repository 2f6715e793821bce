import { errorCodes, errorStatuses } from '../../contract/src/operation.ts'
import { meanings } from '../../server/src/features/docs/descriptions.ts'

type Row = { code: string; status: number; happens: string }

export declare const data: Row[]

export default {
  load: (): Row[] => errorCodes.map((code) => ({ code, status: errorStatuses[code], happens: meanings[code].happens })),
}
