import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import type { EventKind } from './search.ts'

export function NoMatch({ onClear }: { onClear(): void }) {
  return (
    <Message
      title={<Trans>No event matches</Trans>}
      action={
        <Button onClick={onClear}>
          <Trans>Clear filters</Trans>
        </Button>
      }
    >
      <p>
        <Trans>No event of this period has what the filters ask for. New ones appear here as they come.</Trans>
      </p>
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
    <Message title={title}>
      <p>{text}</p>
    </Message>
  )
}

/** The page of a person, or a workspace, that gets no events. */
export function Withheld({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <Page title={<Trans>Events</Trans>}>
      <Panel>
        <Message title={title}>
          <p>{children}</p>
        </Message>
      </Panel>
    </Page>
  )
}
