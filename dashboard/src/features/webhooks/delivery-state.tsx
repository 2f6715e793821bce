import { Trans } from '@lingui/react/macro'
import { Time } from '../../ui/figures.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import type { DeliveryStatus } from './search.ts'
import type { Delivery } from './webhook-values.ts'

const kinds: Record<DeliveryStatus, StateKind> = { delivered: 'good', pending: 'waiting', failed: 'harm' }

export function DeliveryState({ delivery: { status, attempts } }: { delivery: Pick<Delivery, 'status' | 'attempts'> }) {
  return (
    <State kind={kinds[status]}>
      {status === 'delivered' && <Trans>Delivered</Trans>}
      {status === 'pending' && (attempts > 0 ? <Trans>Retrying</Trans> : <Trans>Pending</Trans>)}
      {status === 'failed' && <Trans>Failed</Trans>}
    </State>
  )
}

/** What comes next for a pending delivery. */
export function NextAttempt({ delivery }: { delivery: Delivery }) {
  const { timeZone } = useWorkspaceSettings()
  const { status, waitingFor, nextAttemptAt, attempts } = delivery
  if (status !== 'pending') return null
  if (waitingFor === 'click') return <Trans>waits for the facts of its click</Trans>
  if (nextAttemptAt === null) return <Trans>waits until the webhook is enabled</Trans>
  if (attempts === 0) return <Trans>about to be sent</Trans>
  return (
    <Trans>
      next attempt <Time at={nextAttemptAt} timeZone={timeZone} />
    </Trans>
  )
}

/** The status of the last response, or that there was none. */
export function LastResponse({ delivery: { attempts, responseStatus } }: { delivery: Delivery }) {
  if (attempts === 0) return <span className="text-faint">–</span>
  if (responseStatus === null) return <Trans>no response</Trans>
  return responseStatus
}
