import type { OperationInput } from '@tributary/contract/client'
import { call } from '../../app/call.ts'

type ListQuery = NonNullable<OperationInput<'listEvents'>['query']>
export type ExportFormat = 'csv' | 'ndjson'

/** Saves all events of a query as a file, with the name that the server gives it. */
export async function exportEvents(workspace: string, query: ListQuery, format: ExportFormat): Promise<void> {
  const response = await call('exportEvents', { query: { ...query, format } as never }, workspace)
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
  const address = URL.createObjectURL(await response.blob())
  const anchor = document.createElement('a')
  anchor.href = address
  anchor.download = name ?? `${query.event}.${format}`
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
