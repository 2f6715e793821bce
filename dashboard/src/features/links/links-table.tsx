import { Plural, useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { Money } from '../../ui/figures.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import type { Selection, Sort } from '../../ui/table-types.ts'
import { type Counts, type Shown, useLinkColumns } from './link-columns.tsx'
import { CopyLink, LinkDetails, LinkName } from './link-parts.tsx'
import { type Link, type LinkList, useWorkspaceSettings } from './queries.ts'
import type { LinkSort } from './search.ts'
import { shortAddress } from './texts.ts'

type Props = Shown & {
  list: LinkList
  sort: Sort
  onSort(by: LinkSort): void
  selection?: Selection
  onRange(first: number, last: number): void
  isDimmed: boolean
}

/** The links with their figures of the period. */
export function LinksTable({ list, sort, onSort, selection, onRange, isDimmed, ...shown }: Props) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const { stats, hasStats, isDense, menu } = shown
  return (
    <Table<Link>
      label={t`Links`}
      columns={useLinkColumns(shown)}
      count={list.count}
      row={list.at}
      rowId={({ id }) => id}
      rowLabel={shortAddress}
      rowHeight={isDense ? 28 : 44}
      cardHeight={88}
      card={(link) => <LinkCard link={link} counts={hasStats ? stats.get(link.id) : link} menu={menu} />}
      sort={sort}
      onSort={(by) => onSort(by as LinkSort)}
      selection={selection}
      onOpen={({ id }) => void navigate({ from: '/$workspace', to: '/$workspace/links/$id', params: { id } })}
      onRange={onRange}
      isDimmed={isDimmed}
    />
  )
}

function LinkCard({ link, counts, menu }: { link: Link; counts: Counts | undefined; menu: Props['menu'] }) {
  return (
    <div className="flex gap-1">
      <div className="min-w-0 flex-1">
        <LinkName link={link} />
        <LinkDetails link={link} />
        <div className="mt-1.5 flex gap-3 overflow-hidden text-xs whitespace-nowrap text-muted">
          {counts ? <CardFigures counts={counts} isTracked={link.trackConversion} /> : <Skeleton className="w-24" />}
        </div>
      </div>
      <CopyLink link={link} />
      {menu?.(link)}
    </div>
  )
}

/** Clicks, and what came of them where conversions are tracked or were. */
function CardFigures({ counts, isTracked }: { counts: Counts; isTracked: boolean }) {
  const { currency } = useWorkspaceSettings()
  const { clicks, leads, sales, saleAmount } = counts
  return (
    <>
      <span>
        <Plural value={clicks} one="# click" other="# clicks" />
      </span>
      {(isTracked || leads > 0) && (
        <span>
          <Plural value={leads} one="# lead" other="# leads" />
        </span>
      )}
      {(isTracked || sales > 0) && (
        <span>
          <Plural value={sales} one="# sale" other="# sales" />
        </span>
      )}
      {saleAmount > 0 && <Money amount={saleAmount} currency={currency} />}
    </>
  )
}
