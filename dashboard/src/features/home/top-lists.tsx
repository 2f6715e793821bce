import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Count, useLocale } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { shortAddress } from '../links/texts.ts'

type Row = { clicks: number } & Record<string, unknown>

export function TopLinks({ rows }: { rows: readonly Row[] }) {
  return (
    <TopList
      title={<Trans>Top links</Trans>}
      rows={rows.map(({ clicks, id, domain, key }) => ({
        id: String(id),
        clicks,
        name: (
          <Link
            from="/$workspace"
            to="/$workspace/links/$id"
            params={{ id: String(id) }}
            className="block truncate rounded-sm hover:underline"
          >
            <bdi>{shortAddress({ domain: String(domain), key: String(key) })}</bdi>
          </Link>
        ),
      }))}
    />
  )
}

export function TopSources({ rows }: { rows: readonly Row[] }) {
  return (
    <TopList
      title={<Trans>Top sources</Trans>}
      rows={rows.map(({ clicks, referer }) => ({
        id: String(referer),
        clicks,
        name: referer === '(direct)' ? <Trans>Direct</Trans> : <bdi>{String(referer)}</bdi>,
      }))}
    />
  )
}

export function TopCountries({ rows }: { rows: readonly Row[] }) {
  const names = new Intl.DisplayNames([useLocale()], { type: 'region', fallback: 'none' })
  return (
    <TopList
      title={<Trans>Top countries</Trans>}
      rows={rows.map(({ clicks, country }) => ({
        id: String(country),
        clicks,
        name: countryName(names, String(country)) ?? <Trans>Unknown</Trans>,
      }))}
    />
  )
}

export function TopDevices({ rows }: { rows: readonly Row[] }) {
  return (
    <TopList
      title={<Trans>Top devices</Trans>}
      rows={rows.map(({ clicks, device }) => ({
        id: String(device),
        clicks,
        name: device === 'Unknown' ? <Trans>Unknown</Trans> : <bdi>{String(device)}</bdi>,
      }))}
    />
  )
}

function countryName(names: Intl.DisplayNames, code: string): string | undefined {
  return /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined
}

type TopRow = { id: string; name: ReactNode; clicks: number }

/** The highest rows with a bar each, relative to the first. */
function TopList({ title, rows }: { title: ReactNode; rows: readonly TopRow[] }) {
  const shown = rows.filter(({ clicks }) => clicks > 0)
  const most = Math.max(1, ...shown.map(({ clicks }) => clicks))
  return (
    <Panel className="min-w-0 pb-2">
      <header className="flex items-baseline px-4 pt-3 pb-1.5">
        <h2 className="mr-auto">{title}</h2>
        <span className="text-xs text-muted">
          <Trans>Clicks, 30 days</Trans>
        </span>
      </header>
      {shown.length === 0 && (
        <p className="px-4 pb-2 text-sm text-muted">
          <Trans>None in the last 30 days.</Trans>
        </p>
      )}
      <ol>
        {shown.map(({ id, name, clicks }) => (
          <li key={id} className="relative flex h-9 items-center gap-4 px-4 text-sm">
            <span
              aria-hidden
              className="absolute inset-y-0.5 left-2 rounded-sm bg-accent-soft"
              style={{ width: `calc(${(clicks / most) * 100}% - 16px)` }}
            />
            <span className="relative min-w-0 flex-1 truncate">{name}</span>
            <span className="relative">
              <Count value={clicks} />
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
