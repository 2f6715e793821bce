import { Trans } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'

export function NoMatch({ onClear }: { onClear(): void }) {
  return (
    <Message
      title={<Trans>No customer matches</Trans>}
      action={
        <Button onClick={onClear}>
          <Trans>Clear search and filters</Trans>
        </Button>
      }
    >
      <p>
        <Trans>
          The search finds a part of a name, e-mail address or external id, and a whole customer id or Stripe id.
        </Trans>
      </p>
    </Message>
  )
}

export function NoCustomers() {
  return (
    <Message
      title={<Trans>No customers yet</Trans>}
      action={
        <Button asChild>
          <RouteLink from="/$workspace" to="/$workspace">
            <Trans>Open the first steps</Trans>
          </RouteLink>
        </Button>
      }
    >
      <p>
        <Trans>
          A person becomes a customer when your server reports a lead or a sale with your own id for the person. Here
          you see which click brought each of them and what they have paid since.
        </Trans>
      </p>
    </Message>
  )
}

export function NotForRole({ scope }: { scope?: 'page' }) {
  return (
    <Message scope={scope} title={<Trans>Your role does not include customers</Trans>}>
      <p>
        <Trans>Names and e-mail addresses are for other roles. Ask an owner or admin of this workspace for one.</Trans>
      </p>
    </Message>
  )
}
