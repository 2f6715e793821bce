import { Trans } from '@lingui/react/macro'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'

export function PartnersPage() {
  return (
    <Page title={<Trans>Partners</Trans>}>
      <Panel>
        <Message title={<Trans>This page is being built</Trans>}>
          <p>
            <Trans>Partner programs: who wants in, who earned what, and what to pay.</Trans>
          </p>
        </Message>
      </Panel>
    </Page>
  )
}
