import { Trans } from '@lingui/react/macro'
import { ArrowUpRight } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { isNotFound, useOperation } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { AllowHost } from './allow-host.tsx'
import { FindingText } from './finding-text.tsx'
import { findFinding, type InstallCheck } from './findings.ts'

const pollMs = 1_000
const kinds: Record<InstallCheck['state'], StateKind> = {
  waiting: 'waiting',
  installed: 'good',
  refused: 'harm',
  expired: 'none',
}

/** Whether further reading brings nothing new. A refused host may still be allowed. */
const isFinal = (state: InstallCheck['state'] | undefined) => state === 'installed' || state === 'expired'

/** How a check stands; it turns green by itself when the page reports in. */
export function CheckResult({ id, onRepeat }: { id: string; onRepeat(url: string): void }) {
  const {
    data: check,
    error,
    refetch,
  } = useOperation(
    'getInstallCheck',
    { params: { id } },
    {
      refetchInterval: ({ state }) => (isFinal(state.data?.state) || isNotFound(state.error) ? false : pollMs),
      staleTime: 0,
    },
  )
  if (isNotFound(error)) {
    return (
      <Panel className="p-4 text-sm">
        <p role="alert">
          <Trans>This check is gone. Check the page again.</Trans>
        </p>
      </Panel>
    )
  }
  if (error && !check) return <ErrorMessage error={error} retry={() => void refetch()} />
  if (!check) return <RowsLoading />
  return (
    <Panel className="flex flex-col gap-3 p-4 text-sm">
      <div role="status" className="flex flex-col gap-1">
        <h3 className="text-base">
          <State kind={kinds[check.state]}>
            <StateName state={check.state} />
          </State>
        </h3>
        <p className="text-muted wrap-anywhere">
          <bdi>{check.url}</bdi>
        </p>
      </div>
      <Explanation check={check} onRepeat={onRepeat} />
    </Panel>
  )
}

function StateName({ state }: { state: InstallCheck['state'] }): ReactNode {
  if (state === 'installed') return <Trans>The script is installed</Trans>
  if (state === 'refused') return <Trans>The script runs, but its host is not allowed</Trans>
  if (state === 'expired') return <Trans>The page did not report in within an hour</Trans>
  return <Trans>Waiting for the page to report in</Trans>
}

function Explanation({ check, onRepeat }: { check: InstallCheck; onRepeat(url: string): void }) {
  if (check.report) return <Report check={check} report={check.report} />
  return (
    <>
      {check.state === 'waiting' && <OpenPage url={check.checkUrl} />}
      <p className="flex flex-col gap-1 border-t pt-3">
        <span className="text-xs text-muted">
          <Trans>What the server sees in the HTML</Trans>
        </span>
        <FindingText finding={findFinding(check.page)} page={check.page} />
      </p>
      <span>
        <Button size="small" onClick={() => onRepeat(check.url)}>
          <Trans>Check again</Trans>
        </Button>
      </span>
    </>
  )
}

/** The page opens in another tab, where its script finds the id of the check in the address. */
function OpenPage({ url }: { url: string }) {
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => link.current?.focus(), [])
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <Button asChild kind="first">
        <a ref={link} href={url} target="_blank" rel="noopener">
          <Trans>Open the page</Trans>
          <ArrowUpRight size={14} aria-hidden />
        </a>
      </Button>
      <span className="min-w-0 flex-1 text-muted">
        <Trans>Its script reports in when it loads. This turns green by itself then.</Trans>
      </span>
    </div>
  )
}

type ReportProps = { check: InstallCheck; report: NonNullable<InstallCheck['report']> }

function Report({ check, report }: ReportProps) {
  const { timeZone } = useWorkspaceSettings()
  const { host, path, at, isOff } = report
  const page = <bdi className="wrap-anywhere">{host + path}</bdi>
  const time = <Time at={at} timeZone={timeZone} />
  const version = <bdi className="wrap-anywhere">{report.version}</bdi>
  return (
    <>
      <p>
        <Trans>
          {page} reported in {time}, with version {version} of the script.
        </Trans>
      </p>
      {isOff && (
        <p className="text-muted">
          <Trans>
            Your browser asks not to be tracked, and the page honours that: for you, the script stores and sends nothing
            else.
          </Trans>
        </p>
      )}
      {check.state === 'refused' && <AllowHost host={host} />}
    </>
  )
}
