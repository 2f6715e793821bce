import { Trans } from '@lingui/react/macro'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'

export function CustomersPage() {
  return (
    <Page title={<Trans>Customers</Trans>}>
      <Panel>
        <Message title={<Trans>This page is being built</Trans>}>
          <p>
            <Trans>Who became a lead or a buyer, and by which clicks.</Trans>
          </p>
        </Message>
      </Panel>
    </Page>
  )
}
