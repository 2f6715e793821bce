import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { operationQuery, useChange, useOperation } from '../../app/queries.ts'
import { workspacesQuery } from '../../app/session.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'

const pollMs = 1_000

/** Offers a workspace full of sample data, and to delete it; without an offer it shows only what exists. */
export function SampleData({ isOffered }: { isOffered: boolean }) {
  const { slug, can } = useWorkspace()
  const client = useQueryClient()
  const known = client.getQueryData(operationQuery(slug, 'getSampleData').queryKey)?.status
  const isBusy = known === 'creating' || known === 'deleting'
  const { data: sample } = useOperation('getSampleData', {}, isBusy ? { refetchInterval: pollMs } : {})
  if (!sample || !can('workspaces.write') || (sample.status === 'none' && !isOffered)) return null
  return (
    <Panel className="flex flex-wrap items-center gap-3 px-4 py-3">
      <div className="mr-auto min-w-60 flex-1">
        <h2>
          <Trans>Sample data</Trans>
        </h2>
        <p role="status" className="text-sm text-muted">
          <State sample={sample} />
        </p>
      </div>
      <Actions sample={sample} />
    </Panel>
  )
}

type Sample = { status: 'none' | 'creating' | 'ready' | 'deleting'; progress: number; slug: string | null }

function State({ sample: { status, progress } }: { sample: Sample }) {
  const { i18n } = useLingui()
  if (status === 'creating') return <Trans>Being created: {i18n.number(progress, { style: 'percent' })}</Trans>
  if (status === 'deleting') return <Trans>Being deleted</Trans>
  if (status === 'ready') {
    return (
      <Trans>Links, clicks, leads and sales of 30 days, in a workspace of their own. They never mix with yours.</Trans>
    )
  }
  return (
    <Trans>See the dashboard with 30 days of figures before you have your own. One click removes them again.</Trans>
  )
}

function Actions({ sample: { status, slug } }: { sample: Sample }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const create = useChange('createSampleData', ['getSampleData'])
  const remove = useChange('deleteSampleData', ['getSampleData'])
  const run = (change: typeof create | typeof remove) =>
    void change.mutateAsync({}).then(
      () => client.invalidateQueries({ queryKey: workspacesQuery.queryKey }),
      (error: Error) => toast({ title: t`This did not work`, detail: error.message, kind: 'harm' }),
    )
  if (status === 'none') {
    return (
      <Button disabled={create.isPending} onClick={() => run(create)}>
        <Trans>Create sample data</Trans>
      </Button>
    )
  }
  return (
    <>
      {status === 'ready' && slug && (
        <Button asChild>
          <Link to="/$workspace" params={{ workspace: slug }}>
            <Trans>Open sample data</Trans>
          </Link>
        </Button>
      )}
      {status !== 'deleting' && (
        <Button kind="harm" disabled={remove.isPending} onClick={() => run(remove)}>
          <Trans>Delete sample data</Trans>
        </Button>
      )}
    </>
  )
}
