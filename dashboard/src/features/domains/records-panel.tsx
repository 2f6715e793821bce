import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Panel } from '../../ui/page.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { blockingAddresses, foreignValues, type RecordState, recordState } from './domain-status.ts'
import type { DnsRecord, DomainStatus } from './queries.ts'

/** Each DNS record that the domain should have, and what DNS has. */
export function RecordsPanel({ status }: { status: DomainStatus }) {
  const byType = (...types: DnsRecord['type'][]) => status.records.filter(({ type }) => types.includes(type))
  const groups: { id: string; title: ReactNode; text: ReactNode; records: DnsRecord[] }[] = [
    {
      id: 'cname',
      title: <Trans>Lead visitors here</Trans>,
      text: <Trans>For a name with a prefix, such as go.example.com. It usually verifies the domain, too.</Trans>,
      records: byType('CNAME'),
    },
    {
      id: 'addresses',
      title: byType('CNAME').length > 0 ? <Trans>Or by addresses</Trans> : <Trans>Lead visitors here</Trans>,
      text: <Trans>For a bare name such as example.com, which can’t have a CNAME record. Set all of them.</Trans>,
      records: byType('A', 'AAAA'),
    },
    {
      id: 'text',
      title: <Trans>Prove that the domain is yours</Trans>,
      text: (
        <Trans>
          Needed behind a proxy such as Cloudflare, for a wildcard record, and to take a domain over from another
          workspace.
        </Trans>
      ),
      records: byType('TXT'),
    },
  ]
  return (
    <Panel>
      <h2 className="px-4 pt-4">
        <Trans>DNS records</Trans>
      </h2>
      {groups
        .filter(({ records }) => records.length > 0)
        .map(({ id, title, text, records }) => (
          <section key={id} className="border-b p-4 last:border-b-0">
            <h3 className="text-sm font-medium">{title}</h3>
            <p className="mb-2 text-xs text-muted">{text}</p>
            <ul className="flex flex-col gap-2">
              {records.map((record) => (
                <Record key={record.type + record.value} record={record} status={status} />
              ))}
            </ul>
          </section>
        ))}
    </Panel>
  )
}

function Record({ record, status }: { record: DnsRecord; status: DomainStatus }) {
  const { t } = useLingui()
  const { type, name, value } = record
  const state = recordState(record, status)
  return (
    <li className="rounded-md border p-3 text-sm">
      <div className="grid grid-cols-[64px_minmax(0,2fr)_minmax(0,3fr)_auto] items-center gap-x-3 max-md:grid-cols-[64px_minmax(0,1fr)]">
        <code className="font-mono text-xs font-medium">{type}</code>
        <Copied text={name} label={t`Copy the name of the ${type} record`} />
        <Copied text={value} label={t`Copy the value of the ${type} record`} className="max-md:col-start-2" />
        <span className="max-md:col-start-2">
          <RecordWord state={state} />
        </span>
      </div>
      <Explanation record={record} state={state} status={status} />
    </li>
  )
}

function Copied({ text, label, className = '' }: { text: string; label: string; className?: string }) {
  return (
    <span className={`flex min-w-0 items-center gap-1 ${className}`}>
      <code className="min-w-0 font-mono text-xs wrap-anywhere">{text}</code>
      <CopyButton text={text} label={label} />
    </span>
  )
}

const kinds: Record<RecordState, StateKind> = {
  found: 'good',
  missing: 'waiting',
  different: 'harm',
  unknown: 'none',
  unneeded: 'none',
}

function RecordWord({ state }: { state: RecordState }) {
  return (
    <State kind={kinds[state]}>
      {state === 'found' && <Trans>Found</Trans>}
      {state === 'missing' && <Trans>Not found</Trans>}
      {state === 'different' && <Trans>Different</Trans>}
      {state === 'unknown' && <Trans>Unknown</Trans>}
      {state === 'unneeded' && <Trans>Not needed</Trans>}
    </State>
  )
}

type ExplanationProps = { record: DnsRecord; state: RecordState; status: DomainStatus }

/** What stands in the way of a record, and what to do about it. */
function Explanation({ record, state, status }: ExplanationProps) {
  const others = foreignValues(record, status).join(', ')
  const blocking = blockingAddresses(record, status).join(', ')
  const text = explain()
  return text && <p className="mt-2 border-t pt-2 text-xs text-harm wrap-anywhere">{text}</p>

  function explain(): ReactNode {
    if (state === 'missing' && blocking)
      return (
        <Trans>
          The name leads to <bdi>{blocking}</bdi>, another server. Remove that record first: a CNAME record can’t be
          beside it.
        </Trans>
      )
    if (state === 'different' && record.type === 'CNAME')
      return (
        <Trans>
          DNS leads to <bdi>{others}</bdi> instead. Replace that record.
        </Trans>
      )
    if (state === 'different' && record.type === 'TXT')
      return (
        <Trans>
          DNS has another value: <bdi>{others}</bdi>. Add a second record with the value above, or replace it.
        </Trans>
      )
    if (state === 'different' && others)
      return (
        <Trans>
          DNS has the address <bdi>{others}</bdi>, another server. Replace it.
        </Trans>
      )
    if (state === 'found' && !status.routed && record.purpose === 'routing' && others)
      return (
        <Trans>
          DNS also has <bdi>{others}</bdi>: some visitors reach another server. Remove that record.
        </Trans>
      )
    return undefined
  }
}
