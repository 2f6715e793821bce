import { Trans } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { ShowLastDays } from '../analytics/empty-period.tsx'
import type { EventKind } from './search.ts'

type NoMatchProps = {
  onClear(): void
  /** Only for a period that is over. */
  onShowLastDays: (() => void) | undefined
}

export function NoMatch({ onClear, onShowLastDays }: NoMatchProps) {
  return (
    <Message
      title={<Trans>No event matches</Trans>}
      action={
        <>
          <Button onClick={onClear}>
            <Trans>Clear filters</Trans>
          </Button>
          {onShowLastDays && <ShowLastDays onShow={onShowLastDays} />}
        </>
      }
    >
      <p>
        <Trans>No event of this period has what the filters ask for.</Trans>{' '}
        {!onShowLastDays && <Trans>New ones appear here as they come.</Trans>}
      </p>
    </Message>
  )
}

/** An empty list of a period that is over. */
export function NothingHappened({ kind, onShowLastDays }: { kind: EventKind; onShowLastDays(): void }) {
  const texts: Record<EventKind, ReactNode> = {
    clicks: <Trans>The period is over and has no clicks.</Trans>,
    leads: <Trans>The period is over and has no leads.</Trans>,
    sales: <Trans>The period is over and has no sales.</Trans>,
  }
  return (
    <Message title={<Trans>Nothing happened in this period</Trans>} action={<ShowLastDays onShow={onShowLastDays} />}>
      <p>{texts[kind]}</p>
    </Message>
  )
}

/** An empty list of each kind: what would be here, and how to get the first one. */
export function NoEvents({ kind }: { kind: EventKind }) {
  const texts: Record<EventKind, [title: ReactNode, text: ReactNode]> = {
    clicks: [
      <Trans key="title">No clicks in this period</Trans>,
      <Trans key="text">
        Open one of your short links: its click is here within two seconds, with place and device.
      </Trans>,
    ],
    leads: [
      <Trans key="title">No leads in this period</Trans>,
      <Trans key="text">
        A lead is a person who signed up after a click. Your server reports it with the click id from the cookie.
      </Trans>,
    ],
    sales: [
      <Trans key="title">No sales in this period</Trans>,
      <Trans key="text">
        A sale is a payment of a customer who came by a link. Your server reports it with the amount and the invoice.
      </Trans>,
    ],
  }
  const [title, text] = texts[kind]
  return (
    <Message title={title} action={kind !== 'clicks' && <OpenTracking />}>
      <p>{text}</p>
    </Message>
  )
}

function OpenTracking() {
  return (
    <Button asChild>
      <RouteLink from="/$workspace" to="/$workspace/settings/tracking">
        <Trans>Open the tracking settings</Trans>
      </RouteLink>
    </Button>
  )
}
