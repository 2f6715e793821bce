import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { usePreferences, useSetPreferences } from '../../app/preferences.ts'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { Checklist } from './checklist.tsx'
import { HomeLoading } from './home-loading.tsx'
import { Overview } from './overview.tsx'
import { SampleData } from './sample-data.tsx'

const hint = 'setup'

/** The way to a first tracked sale; then today's figures and those of the last 30 days. */
export function HomePage() {
  const { slug, can } = useWorkspace()
  if (can('workspaces.read')) return <Home key={slug} />
  return (
    <Page title={<Trans>Home</Trans>}>
      <Panel>
        <Message title={<Trans>Your role shows no figures</Trans>}>
          <p>
            <Trans>It is for usage and payouts. To see links and their clicks, ask an owner for another role.</Trans>
          </p>
        </Message>
      </Panel>
    </Page>
  )
}

function Home() {
  const { data: steps, error, refetch } = useOperation('listSetupSteps', {}, { staleTime: 0 })
  const preferences = usePreferences()
  const set = useSetPreferences()
  const isComplete = steps?.some(({ step, done }) => step === 'sale' && done)
  const isDismissed = preferences?.dismissedHints.includes(hint)
  // Somebody who watches the last step turn done sees that; it is gone with the next visit.
  const [wasComplete, setWasComplete] = useState<boolean>()
  if (wasComplete === undefined && isComplete !== undefined) setWasComplete(isComplete)
  const dismiss = (isNow: boolean) => {
    const others = preferences?.dismissedHints.filter((name) => name !== hint) ?? []
    void set({ dismissedHints: isNow ? [...others, hint] : others })
  }
  if (error && !steps) return <ErrorMessage error={error} retry={() => void refetch()} />
  if (!steps || !preferences) return <HomeLoading />
  const hasOverview = isComplete || isDismissed
  return (
    <Page
      title={<Trans>Home</Trans>}
      actions={
        isDismissed &&
        !isComplete && (
          <Button onClick={() => dismiss(false)}>
            <Trans>Show first steps</Trans>
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {!wasComplete && !isDismissed && <Checklist onDismiss={() => dismiss(true)} />}
        {hasOverview && <Overview />}
        <SampleData isOffered={!hasOverview} />
      </div>
    </Page>
  )
}
