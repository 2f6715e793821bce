import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError } from '@tributary/contract/client'
import { ArrowLeft, RefreshCw } from 'lucide-react'
import { ErrorMessage, NotFoundScreen } from '../../app/errors.tsx'
import { operationQuery } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { State } from '../../ui/state.tsx'
import { BackupsPart } from './backups-part.tsx'
import { DisksPart } from './disks-part.tsx'
import { EnginesPart, ProcessesPart } from './engines-part.tsx'
import { ProblemsPart, QueuesPart } from './queues-part.tsx'
import { Summary } from './summary.tsx'
import { VersionPart } from './version-part.tsx'

const refreshMs = 15_000

/** The state of the whole installation, for its operators. */
export function OperatorPage() {
  const query = operationQuery(undefined, 'getOperatorStatus')
  const { data: status, error, refetch, isFetching } = useQuery({ ...query, refetchInterval: refreshMs, staleTime: 0 })
  if (error instanceof ApiError && error.status === 404) return <NotFoundScreen />
  return (
    <main className="mx-auto max-w-300">
      <Page
        title={<Trans>Installation</Trans>}
        actions={
          <>
            {status && <CheckedAt at={status.checkedAt} />}
            <Button size="small" disabled={isFetching} onClick={() => void refetch()}>
              <RefreshCw size={14} strokeWidth={1.75} aria-hidden />
              <Trans>Check now</Trans>
            </Button>
            <Button size="small" kind="quiet" asChild>
              <Link to="/">
                <ArrowLeft size={14} strokeWidth={1.75} aria-hidden />
                <Trans>Your workspaces</Trans>
              </Link>
            </Button>
          </>
        }
      >
        {!status ? (
          <Panel>{error ? <ErrorMessage error={error} retry={() => void refetch()} /> : <RowsLoading />}</Panel>
        ) : (
          <>
            <Panel className="mb-6 px-3.5 py-3">
              <div role="status">
                <State kind={status.state} isSentence>
                  <Summary status={status} />
                </State>
              </div>
            </Panel>
            <div className={`grid items-start gap-x-6 gap-y-6 lg:grid-cols-2 ${error ? 'opacity-60' : ''}`}>
              <div className="min-w-0">
                <EnginesPart engines={status.engines} />
                <ProcessesPart roles={status.roles} />
                <BackupsPart backups={status.backups} />
              </div>
              <div className="min-w-0">
                <QueuesPart queues={status.queues} />
                <ProblemsPart problems={status.problems} />
                <DisksPart disks={status.disks} />
                <VersionPart version={status.version} mail={status.mail} />
              </div>
            </div>
          </>
        )}
      </Page>
    </main>
  )
}

function CheckedAt({ at }: { at: string }) {
  const time = new Intl.DateTimeFormat(useLocale(), { timeStyle: 'medium' }).format(new Date(at))
  return (
    <span className="text-xs text-muted">
      <Trans>
        Checked at <time dateTime={at}>{time}</time>
      </Trans>
    </span>
  )
}
