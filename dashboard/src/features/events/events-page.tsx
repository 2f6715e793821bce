import { Trans } from '@lingui/react/macro'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'

export function EventsPage() {
  return (
    <Page title={<Trans>Events</Trans>}>
      <Panel>
        <Message title={<Trans>This page is being built</Trans>}>
          <p>
            <Trans>Clicks, leads and sales as they arrive.</Trans>
          </p>
        </Message>
      </Panel>
    </Page>
  )
}
