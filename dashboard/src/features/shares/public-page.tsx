import { Trans } from '@lingui/react/macro'
import { useEffect } from 'react'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Statistics } from './statistics.tsx'
import { UnlockForm } from './unlock-form.tsx'
import { hasStatus, useSharedPage } from './visit.ts'

/** The page that visitors open: statistics, a question for the password, or nothing. */
export function PublicPage() {
  const { data: page, error, refetch } = useSharedPage()
  const title = page && !page.isLocked ? pageTitle(page) : undefined
  useEffect(() => {
    if (title) document.title = title
  }, [title])
  if (hasStatus(error, 404)) return <MissingPage />
  if (error) {
    return (
      <Message
        role="alert"
        scope="screen"
        title={<Trans>This did not load</Trans>}
        action={
          <Button onClick={() => void refetch()}>
            <Trans>Try again</Trans>
          </Button>
        }
      >
        <p>{error.message}</p>
      </Message>
    )
  }
  if (!page) return <PageLoading />
  if (page.isLocked) return <UnlockForm onUnlocked={() => void refetch()} />
  return <Statistics page={page} title={title} />
}

/** The title of the owner, or the short link as people write it. */
function pageTitle({ title, shortLink }: { title: string | null; shortLink: string | null }): string | undefined {
  return title ?? shortLink?.replace(/^https?:\/\//, '')
}

function MissingPage() {
  return (
    <Message scope="screen" title={<Trans>There are no statistics here</Trans>}>
      <p>
        <Trans>The address is wrong, or nobody shares this page any more. Ask the person who sent it to you.</Trans>
      </p>
    </Message>
  )
}

function PageLoading() {
  return (
    <main role="status" className="mx-auto max-w-275 px-3.5 pt-5 md:px-7">
      <span className="sr-only">
        <Trans>Loading</Trans>
      </span>
      <Skeleton className="mb-5 h-5 w-60" />
      <div className="h-70 rounded-lg border bg-surface" />
    </main>
  )
}
