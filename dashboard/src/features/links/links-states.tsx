import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'

export function NoMatch({ onClear }: { onClear(): void }) {
  return (
    <Message
      title={<Trans>No link matches</Trans>}
      action={
        <Button onClick={onClear}>
          <Trans>Clear search and filters</Trans>
        </Button>
      }
    >
      <p>
        <Trans>
          The search looks at short addresses and destinations. Archived links are hidden unless you show them.
        </Trans>
      </p>
    </Message>
  )
}

export function NoLinks({ action }: { action?: ReactNode }) {
  return (
    <Message title={<Trans>No links yet</Trans>} action={action}>
      <p>
        <Trans>
          A short link sends people to a page of yours and counts the clicks, leads and sales that it brings. One link
          per campaign, poster or newsletter shows which of them works.
        </Trans>
      </p>
    </Message>
  )
}
