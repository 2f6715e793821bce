import { Trans } from '@lingui/react/macro'
import { ApiError } from '@tributary/contract/client'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'

/** What the server refused; when it wants a recent sign-in, a button that leads there and back to this page. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null
  if (!needsRecentSignIn(error)) return <Notice>{error instanceof Error ? error.message : String(error)}</Notice>
  const here = location.pathname + location.search + location.hash
  return (
    <Notice
      action={
        <Button asChild size="small">
          <a href={`/confirm?next=${encodeURIComponent(here)}`}>
            <Trans>Confirm it’s you</Trans>
          </a>
        </Button>
      }
    >
      <Trans>This needs a sign-in within the last 15 minutes. Confirm it’s you; then this page opens again.</Trans>
    </Notice>
  )
}

/** Whether the server refused because the last sign-in is too long ago. */
function needsRecentSignIn(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && /sign-in within the last/.test(error.message)
}
