import { Trans } from '@lingui/react/macro'
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { Button } from '../ui/button.tsx'
import { Message } from '../ui/message.tsx'
import { requestId } from './call.ts'

type Scope = 'part' | 'page' | 'screen'
type ErrorMessageProps = { error: unknown; retry: () => void; scope?: Scope }

/** What went wrong, the id for the server's log, and a retry in the same spot. For a page, or for a panel of one. */
export function ErrorMessage({ error, retry, scope = 'part' }: ErrorMessageProps) {
  const id = requestId(error)
  return (
    <Message
      role="alert"
      scope={scope}
      title={<Trans>This did not load</Trans>}
      action={
        <Button onClick={retry}>
          <Trans>Try again</Trans>
        </Button>
      }
    >
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {id && (
        <p className="text-sm text-faint">
          <Trans>
            Request <code className="font-mono text-xs">{id}</code>
          </Trans>
        </p>
      )}
    </Message>
  )
}

/** Shown instead of a page that failed, within the shell. */
export function ErrorPage(props: ErrorComponentProps) {
  return <FailedRoute {...props} scope="page" />
}

/** Shown when the shell itself can't be shown. */
export function ErrorScreen(props: ErrorComponentProps) {
  return <FailedRoute {...props} scope="screen" />
}

function FailedRoute({ error, reset, scope }: ErrorComponentProps & { scope: Scope }) {
  const router = useRouter()
  const queries = useQueryErrorResetBoundary()
  const retry = () => {
    queries.reset()
    reset()
    void router.invalidate()
  }
  return <ErrorMessage error={error} retry={retry} scope={scope} />
}

export function NotFoundPage() {
  return <NotFound scope="page" />
}

export function NotFoundScreen() {
  return <NotFound scope="screen" />
}

function NotFound({ scope }: { scope: Scope }) {
  return (
    <Message
      scope={scope}
      title={<Trans>There is nothing here</Trans>}
      action={
        <Button asChild>
          <Link to="/">
            <Trans>Open the dashboard</Trans>
          </Link>
        </Button>
      }
    >
      <p>
        <Trans>The address is wrong, the page has moved, or you are not a member of this workspace.</Trans>
      </p>
    </Message>
  )
}
