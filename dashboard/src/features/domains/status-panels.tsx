import { Trans } from '@lingui/react/macro'
import { RefreshCw } from 'lucide-react'
import { useEffect } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { CertificatePanel } from './certificate-panel.tsx'
import { checkPauseMs, type DomainPhase, domainPhase } from './domain-status.ts'
import { type DomainStatus, useReadDomainsAgain } from './queries.ts'
import { RecordsPanel } from './records-panel.tsx'

/** Looks DNS and the certificate up when it opens, and again while they are not right. */
function useLiveStatus(slug: string) {
  const params = { slug }
  const { data: stored, error, refetch } = useOperation('getDomainRecords', { params })
  const known = stored && domainPhase(stored)
  const live = useOperation('recheckDomain', { params }, { refetchInterval: checkPauseMs(known), staleTime: 5_000 })
  const checked = live.data?.slug === slug ? live.data : undefined
  const status = checked ?? (stored?.slug === slug ? stored : undefined)
  const readAgain = useReadDomainsAgain()
  const phase = checked && domainPhase(checked)
  useEffect(() => {
    // Other panels, lists and the pause between checks follow what was found.
    if (phase && phase !== known) void readAgain()
  }, [phase, known, readAgain])
  return {
    status,
    error: status ? undefined : error,
    refetch,
    check: () => void live.refetch(),
    isChecking: live.isFetching,
    failure: live.error,
  }
}

const kinds: Record<DomainPhase, StateKind> = {
  unverified: 'waiting',
  unrouted: 'waiting',
  uncertified: 'waiting',
  ready: 'good',
}

/** What works, what doesn't and what to do. */
export function StatusPanels({ slug }: { slug: string }) {
  const { status, error, refetch, check, isChecking, failure } = useLiveStatus(slug)
  if (!status) {
    return <Panel>{error ? <ErrorMessage error={error} retry={() => void refetch()} /> : <RowsLoading />}</Panel>
  }
  const phase = domainPhase(status)
  return (
    <>
      <Panel className="flex flex-col gap-3 p-4">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <div role="status" className="mr-auto">
            <h2 className="text-base">
              <State kind={kinds[phase]}>
                <PhaseName phase={phase} />
              </State>
            </h2>
          </div>
          <span className="text-xs text-muted">
            {isChecking ? <Trans>Checking …</Trans> : <LastCheck at={status.checkedAt} />}
          </span>
          <Button size="small" disabled={isChecking} onClick={check}>
            <RefreshCw size={14} strokeWidth={1.75} aria-hidden />
            <Trans>Check now</Trans>
          </Button>
        </div>
        <p className="text-sm text-muted">
          <PhaseAdvice phase={phase} />
        </p>
        {phase === 'unverified' && status.result && <Result status={status} />}
        {failure && <Notice>{failure.message}</Notice>}
      </Panel>
      <RecordsPanel status={status} />
      <CertificatePanel certificate={status.certificate} />
    </>
  )
}

function PhaseName({ phase }: { phase: DomainPhase }) {
  if (phase === 'unverified') return <Trans>Waiting for DNS</Trans>
  if (phase === 'unrouted') return <Trans>Verified, but visitors don’t arrive</Trans>
  if (phase === 'uncertified') return <Trans>Verified, waiting for the certificate</Trans>
  return <Trans>Ready</Trans>
}

function PhaseAdvice({ phase }: { phase: DomainPhase }) {
  if (phase === 'unverified')
    return (
      <Trans>
        Set the records below at your DNS provider. DNS often needs minutes, at times hours. This page checks by itself
        while it is open, and the server checks when it is not.
      </Trans>
    )
  if (phase === 'unrouted')
    return <Trans>The domain is yours. Set the CNAME or address records below, so that short links open here.</Trans>
  if (phase === 'uncertified')
    return <Trans>Short links work. They work with https once the server has a certificate for the name.</Trans>
  return <Trans>Short links on this domain work, with https. No further step is needed.</Trans>
}

/** The server's own words: wildcards and domains of other workspaces show only here. */
function Result({ status }: { status: DomainStatus }) {
  return (
    <ul className="list-disc pl-5 text-sm wrap-anywhere">
      {status.result.split('; ').map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  )
}

function LastCheck({ at }: { at: string }) {
  const locale = useLocale()
  const { timeZone } = useWorkspaceSettings()
  if (at === '') return <Trans>Not checked yet</Trans>
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', timeZone }).format(new Date(at))
  return (
    <Trans>
      Checked at <time dateTime={at}>{time}</time>
    </Trans>
  )
}
