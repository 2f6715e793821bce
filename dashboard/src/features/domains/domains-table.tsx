import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink, useNavigate } from '@tanstack/react-router'
import { useWorkspace } from '../../app/workspace.ts'
import { Count, Time } from '../../ui/figures.tsx'
import { State } from '../../ui/state.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table-types.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { DomainMenu } from './domain-menu.tsx'
import { type Domain, useLinkCounts } from './queries.ts'

/** The domains with their state and how many links each has. */
export function DomainsTable({ domains, isDimmed }: { domains: readonly Domain[]; isDimmed: boolean }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const navigate = useNavigate()
  const { timeZone } = useWorkspaceSettings()
  const counts = useLinkCounts()
  const columns: Column<Domain>[] = [
    {
      id: 'domain',
      name: <Trans>Domain</Trans>,
      cell: (domain) => (
        <>
          <DomainName domain={domain} />
          <Details domain={domain} />
        </>
      ),
    },
    { id: 'state', name: <Trans>State</Trans>, width: 172, cell: (domain) => <DomainState domain={domain} /> },
    {
      id: 'links',
      name: <Trans>Links</Trans>,
      width: 88,
      isNumber: true,
      cell: ({ slug }) => <Count value={counts.get(slug) ?? 0} />,
    },
    {
      id: 'added',
      name: <Trans>Added</Trans>,
      width: 116,
      isWide: true,
      cell: ({ createdAt }) => (
        <span className="text-muted">
          <Time at={createdAt} timeZone={timeZone} />
        </span>
      ),
    },
    ...(can('domains.write')
      ? [
          {
            id: 'menu',
            name: <ActionsName />,
            width: 48,
            cell: (domain: Domain) => <DomainMenu domain={domain} />,
          },
        ]
      : []),
  ]
  return (
    <Table<Domain>
      label={t`Domains`}
      columns={columns}
      count={domains.length}
      row={(index) => domains[index]}
      rowId={({ id }) => id}
      rowLabel={({ slug }) => slug}
      rowHeight={44}
      cardHeight={84}
      card={(domain) => (
        <div className="flex gap-1">
          <div className="min-w-0 flex-1">
            <DomainName domain={domain} />
            <Details domain={domain} />
            <p className="mt-1.5 flex gap-3 text-xs text-muted">
              <DomainState domain={domain} />
              <Plural value={counts.get(domain.slug) ?? 0} one="# link" other="# links" />
            </p>
          </div>
          {can('domains.write') && <DomainMenu domain={domain} />}
        </div>
      )}
      onOpen={({ slug }) => void navigate({ from: '/$workspace', to: '/$workspace/domains/$slug', params: { slug } })}
      isDimmed={isDimmed}
    />
  )
}

function DomainName({ domain: { slug } }: { domain: Domain }) {
  return (
    <RouteLink
      from="/$workspace"
      to="/$workspace/domains/$slug"
      params={{ slug }}
      data-row-link
      className="block min-w-0 truncate rounded-sm font-medium"
      title={slug}
    >
      <bdi>{slug}</bdi>
    </RouteLink>
  )
}

function Details({ domain: { primary, archived, placeholder } }: { domain: Domain }) {
  const parts = [
    primary && <Trans key="primary">default for new links</Trans>,
    archived && <Trans key="archived">archived</Trans>,
    placeholder && <bdi key="placeholder">{placeholder}</bdi>,
  ].filter(Boolean)
  if (parts.length === 0) return null
  return (
    <p className="truncate text-xs text-muted">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
        <span key={index}>
          {index > 0 && ' · '}
          {part}
        </span>
      ))}
    </p>
  )
}

function DomainState({ domain: { verified } }: { domain: Domain }) {
  return (
    <State kind={verified ? 'good' : 'waiting'}>
      {verified ? <Trans>Verified</Trans> : <Trans>Waiting for DNS</Trans>}
    </State>
  )
}

function ActionsName() {
  return (
    <span className="sr-only">
      <Trans>Actions</Trans>
    </span>
  )
}
