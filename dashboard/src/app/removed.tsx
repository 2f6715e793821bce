import { Trans } from '@lingui/react/macro'
import { Button } from '../ui/button.tsx'
import { Message } from '../ui/message.tsx'

/** Shown to a person whose membership has ended while the page was open. */
export function Removed({ name }: { name: string }) {
  return (
    <Message
      role="alert"
      scope="screen"
      title={<Trans>You are no longer a member of {name}</Trans>}
      action={
        <Button asChild kind="first">
          <a href="/app">
            <Trans>Open another workspace</Trans>
          </a>
        </Button>
      }
    >
      <p>
        <Trans>Somebody has ended your membership, or the workspace was deleted. An owner can invite you again.</Trans>
      </p>
    </Message>
  )
}
