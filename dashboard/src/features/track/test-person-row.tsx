import { Trans } from '@lingui/react/macro'
import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/figures.tsx'
import { State } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import type { TestPerson } from './test-person.ts'

type Props = { person: TestPerson; isBusy: boolean; onSale(): void; onRemove(): void }

/** A test customer: whether its lead and sale have arrived among the events, and what can be done. */
export function TestPersonRow({ person, isBusy, onSale, onRemove }: Props) {
  const { timeZone } = useWorkspaceSettings()
  const { externalId, createdAt, sales, link } = person
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b px-3.5 py-2.5 text-sm last:border-b-0">
      <div className="min-w-40 flex-1">
        <p className="font-medium wrap-anywhere">{externalId}</p>
        <p className="text-xs text-muted">
          <bdi className="wrap-anywhere">{link ? `${link.domain}/${link.key}` : ''}</bdi> ·{' '}
          <Time at={createdAt} timeZone={timeZone} />
        </p>
      </div>
      {link && (
        <div className="flex flex-col">
          <Arrival event="leads" linkId={link.id} waiting={<Trans>The lead is on its way …</Trans>}>
            <Trans>The lead has arrived</Trans>
          </Arrival>
          {sales > 0 && (
            <Arrival event="sales" linkId={link.id} waiting={<Trans>The sale is on its way …</Trans>}>
              <Trans>The sale has arrived</Trans>
            </Arrival>
          )}
        </div>
      )}
      <span className="flex flex-wrap gap-2">
        {sales === 0 && (
          <Button size="small" disabled={isBusy} onClick={onSale}>
            <Trans>Send test sale</Trans>
          </Button>
        )}
        <Button size="small" kind="quiet" disabled={isBusy} onClick={onRemove}>
          <Trans>Remove</Trans>
        </Button>
      </span>
    </li>
  )
}

const pollMs = 1_000

type ArrivalProps = { event: 'leads' | 'sales'; linkId: string; waiting: ReactNode; children: ReactNode }

/** Whether an event of the test link can be read; then a link that shows it among the events. */
function Arrival({ event, linkId, waiting, children }: ArrivalProps) {
  const { slug } = useWorkspace()
  const { history } = useRouter()
  const query = { event, linkId, interval: 'all' as const, limit: 1 }
  const { data } = useOperation(
    'listEvents',
    { query },
    { staleTime: 0, refetchInterval: ({ state }) => (state.data?.length ? false : pollMs) },
  )
  if (!data?.length) return <State kind="waiting">{waiting}</State>
  const path = `/app/${slug}/events?event=${event}&linkId=${encodeURIComponent(linkId)}&period=all`
  return (
    <State kind="good">
      <a
        href={path}
        className="underline hover:text-ink"
        onClick={(click) => {
          click.preventDefault()
          history.push(path)
        }}
      >
        {children}
      </a>
    </State>
  )
}
