import { Trans, useLingui } from '@lingui/react/macro'
import { type FocusEvent, type ReactNode, useMemo, useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { Sparkline } from '../../charts/sparkline.tsx'
import { Count, Money, Time } from '../../ui/figures.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import type { Column } from '../../ui/table-types.ts'
import { columnNames } from './column-names.ts'
import type { ColumnName } from './columns.ts'
import { useFolders } from './link-filters.tsx'
import { CopyLink, LinkDetails, LinkName, Tags } from './link-parts.tsx'
import { type Link, type LinkStats, useWorkspaceSettings } from './queries.ts'

export type Counts = Pick<Link, 'clicks' | 'leads' | 'sales' | 'saleAmount'>
export type Shown = {
  stats: ReadonlyMap<string, LinkStats>
  /** Whether figures of the period are there to show; else those of all time are. */
  hasStats: boolean
  names: readonly ColumnName[]
  /** Whether small windows leave out the columns of lesser weight. */
  isDefault: boolean
  isDense: boolean
  menu?(link: Link): ReactNode
}

type Chosen = Omit<Column<Link>, 'id' | 'name'>

/** The columns of the list: the link, those chosen, and the menu. */
export function useLinkColumns({ stats, hasStats, names, isDefault, isDense, menu }: Shown): Column<Link>[] {
  const { t } = useLingui()
  const { currency, timeZone } = useWorkspaceSettings()
  const folders = useFolders(names.includes('folder'))
  const members = useMembers(names.includes('creator'))
  return useMemo(() => {
    const cells = chosenColumns({ stats, hasStats, isDense, currency, timeZone, folders, members })
    const chosen = names.filter((name) => hasStats || name !== 'series')
    return [
      { id: 'link', name: <Trans>Link</Trans>, cell: (link) => <LinkCell link={link} isDense={isDense} /> },
      ...chosen.map((name) => {
        const { isWide, ...column } = cells[name]
        return { id: name, name: t(columnNames[name]), ...column, isWide: isDefault && isWide }
      }),
      ...(menu ? [{ id: 'menu', name: <ActionsName />, width: 44, cell: menuCell(menu) }] : []),
    ]
  }, [stats, hasStats, isDense, currency, timeZone, folders, members, names, isDefault, menu, t])
}

/** Negative margins, so that the button does not make a dense row higher. */
function menuCell(menu: (link: Link) => ReactNode) {
  return (link: Link) => <span className="-my-1 flex">{menu(link)}</span>
}

type Given = Pick<Shown, 'stats' | 'hasStats' | 'isDense'> & {
  currency: string
  timeZone: string
  folders: ReadonlyMap<string, string>
  members: ReadonlyMap<string, string>
}

function chosenColumns(given: Given): Record<ColumnName, Chosen> {
  const { stats, currency, timeZone, folders, members } = given
  const time = (read: (link: Link) => string) => (link: Link) =>
    read(link) !== '' && <Moment at={read(link)} timeZone={timeZone} />
  const text = (read: (link: Link) => string | null | undefined) => (link: Link) => <Words>{read(link)}</Words>
  const count = (name: 'clicks' | 'leads' | 'sales') => figure(given, name, (value) => <Count value={value} />)
  const money = figure(given, 'saleAmount', (value) => <Money amount={value} currency={currency} />)
  return {
    tags: { width: 176, isWide: true, cell: ({ tags }) => <Tags tags={tags} /> },
    folder: { width: 128, cell: text(({ folderId }) => folderId && (folders.get(folderId) ?? folderId)) },
    comments: { width: 176, cell: text(({ comments }) => comments?.slice(0, 200)) },
    series: { width: 108, isWide: true, cell: ({ id }) => <Trend stats={stats.get(id)} isLow={given.isDense} /> },
    clicks: { width: 88, isNumber: true, sort: 'clicks', cell: count('clicks') },
    leads: { width: 72, isNumber: true, cell: count('leads') },
    sales: { width: 72, isNumber: true, isWide: true, cell: count('sales') },
    revenue: { width: 116, isNumber: true, sort: 'saleAmount', cell: money },
    lastClicked: { width: 116, sort: 'lastClicked', cell: time(({ lastClicked }) => lastClicked) },
    created: { width: 108, sort: 'createdAt', cell: time(({ createdAt }) => createdAt) },
    creator: { width: 128, cell: text(({ userId }) => userId && members.get(userId)) },
    expires: { width: 116, cell: time(({ expiresAt }) => expiresAt) },
  }
}

/** A figure of the period; below it that of all time, when clicks or money of it are outside of the period. */
function figure({ stats, hasStats, isDense }: Given, name: keyof Counts, draw: (value: number) => ReactNode) {
  const hasTotal = !isDense && (name === 'clicks' || name === 'saleAmount')
  return (link: Link) => {
    const counts: Counts | undefined = hasStats ? stats.get(link.id) : link
    if (!counts) return <Skeleton isStatic className="ml-auto w-10" />
    if (!hasTotal || counts[name] === link[name]) return draw(counts[name])
    return (
      <>
        {draw(counts[name])}
        <div className="text-xs text-faint">
          <Trans>of {draw(link[name])}</Trans>
        </div>
      </>
    )
  }
}

/** The button to copy is there while the mouse or the keyboard is: in every row it would cost frames. */
function LinkCell({ link, isDense }: { link: Link; isDense: boolean }) {
  const [isActive, setActive] = useState(false)
  const leave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) setActive(false)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: people use the link and the button in it
    <div
      className={`relative ${isDense ? 'flex items-baseline gap-2' : ''}`}
      onPointerEnter={() => setActive(true)}
      onPointerLeave={() => setActive(false)}
      onFocus={() => setActive(true)}
      onBlur={leave}
    >
      <LinkName link={link} className={isDense ? 'max-w-[60%] shrink-0' : ''} />
      <LinkDetails link={link} />
      {isActive && (
        <CopyLink link={link} className={`absolute! right-0 bg-hover ${isDense ? '-top-0.5 size-6!' : 'top-1'}`} />
      )}
    </div>
  )
}

function Trend({ stats, isLow }: { stats: LinkStats | undefined; isLow: boolean }) {
  const values = (stats?.series ?? []).map(({ clicks }) => clicks)
  return (
    <Sparkline
      values={values}
      height={isLow ? 18 : 22}
      className={stats?.clicks ? 'text-clicks' : 'text-line-strong'}
    />
  )
}

function Moment({ at, timeZone }: { at: string; timeZone: string }) {
  return (
    <span className="text-muted">
      <Time at={at} timeZone={timeZone} />
    </span>
  )
}

function Words({ children }: { children: string | null | undefined }) {
  if (!children) return null
  return (
    <bdi className="block truncate text-muted" title={children}>
      {children}
    </bdi>
  )
}

function ActionsName() {
  return (
    <span className="sr-only">
      <Trans>Actions</Trans>
    </span>
  )
}

function useMembers(isEnabled: boolean): ReadonlyMap<string, string> {
  const { data } = useOperation('listMembers', { query: { pageSize: 100 } }, { enabled: isEnabled, staleTime: 300_000 })
  return useMemo(() => new Map(data?.map(({ userId, name, email }) => [userId, name || email])), [data])
}
