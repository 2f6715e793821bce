import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { WifiOff } from 'lucide-react'
import { useEffect } from 'react'
import { call } from './call.ts'
import { useConnectionLoss } from './connection.ts'

const retryMs = 3_000

/** Says that the figures are old while the server can't be reached; tries again, and then reads everything anew. */
export function ConnectionNotice() {
  const { i18n } = useLingui()
  const lostAt = useConnectionLoss()
  const client = useQueryClient()
  useEffect(() => {
    if (lostAt === undefined) return
    const retry = () =>
      call('listWorkspaces').then(
        () => client.invalidateQueries(),
        () => {},
      )
    const timer = setInterval(() => void retry(), retryMs)
    addEventListener('online', retry)
    return () => {
      clearInterval(timer)
      removeEventListener('online', retry)
    }
  }, [lostAt, client])
  const time = lostAt === undefined ? '' : i18n.date(lostAt, { timeStyle: 'short' })
  return (
    <div role="status" className="sticky top-0 z-30">
      {lostAt !== undefined && (
        <p className="flex items-center justify-center gap-2 border-b bg-raised px-4 py-1.5 text-sm">
          <WifiOff size={14} className="shrink-0 text-harm" aria-hidden />
          <Trans>The server can’t be reached. What you see is from {time}. Trying again.</Trans>
        </p>
      )}
    </div>
  )
}
