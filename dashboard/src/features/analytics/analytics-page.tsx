import { Trans } from '@lingui/react/macro'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'

export function AnalyticsPage() {
  return (
    <Page title={<Trans>Analytics</Trans>}>
      <Panel>
        <Message title={<Trans>This page is being built</Trans>}>
          <p>
            <Trans>Clicks, leads, sales and money, by link, source, country and device.</Trans>
          </p>
        </Message>
      </Panel>
    </Page>
  )
}
