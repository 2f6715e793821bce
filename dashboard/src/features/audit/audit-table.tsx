import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { CursorList } from '../../app/cursor-list.ts'
import { Time } from '../../ui/figures.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table-types.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { ActorName } from './actor-name.tsx'
import type { AuditEntry } from './entry.ts'
import type { AuditSearch } from './search.ts'

type Props = {
  list: CursorList<AuditEntry>
  onRange(first: number, last: number): void
  onOpen(entry: AuditEntry): void
  isDimmed: boolean
}

export function AuditTable({ list, onRange, onOpen, isDimmed }: Props) {
  const { t } = useLingui()
  const { timeZone } = useWorkspaceSettings()
  const columns: Column<AuditEntry>[] = [
    { id: 'operation', name: <Trans>Operation</Trans>, width: 232, cell: (entry) => <OperationName entry={entry} /> },
    { id: 'object', name: <Trans>Object</Trans>, cell: ({ target }) => <Target target={target} /> },
    {
      id: 'actor',
      name: <Trans>Who</Trans>,
      width: 196,
      cell: ({ actor }) => (
        <div className="truncate" title={actor.id}>
          <ActorName actor={actor} />
        </div>
      ),
    },
    {
      id: 'at',
      name: <Trans>When</Trans>,
      width: 132,
      cell: ({ at }) => (
        <span className="text-muted">
          <Time at={at} timeZone={timeZone} />
        </span>
      ),
    },
  ]
  return (
    <Table<AuditEntry>
      label={t`Audit log`}
      columns={columns}
      count={list.count}
      row={list.at}
      rowId={({ sequence }) => String(sequence)}
      rowLabel={({ operation, sequence }) => `${operation} ${sequence}`}
      rowHeight={36}
      cardHeight={76}
      card={(entry) => (
        <>
          <OperationName entry={entry} />
          <Target target={entry.target} />
          <p className="flex gap-3 overflow-hidden text-xs whitespace-nowrap text-muted">
            <span className="truncate">
              <ActorName actor={entry.actor} />
            </span>
            <Time at={entry.at} timeZone={timeZone} />
          </p>
        </>
      )}
      onOpen={onOpen}
      onRange={onRange}
      isDimmed={isDimmed}
    />
  )
}

/** The operation, which opens the entry. */
function OperationName({ entry: { operation, sequence } }: { entry: AuditEntry }) {
  return (
    <Link
      from="/$workspace/settings/audit"
      to="."
      search={(before: AuditSearch) => ({ ...before, entry: sequence })}
      resetScroll={false}
      data-row-link
      className="block min-w-0 truncate rounded-sm font-medium"
      title={operation}
    >
      <bdi>{operation}</bdi>
    </Link>
  )
}

/** What was changed: the noun and the id of the first object. */
function Target({ target: { kind, ids } }: { target: AuditEntry['target'] }) {
  return (
    <div className="truncate text-muted" title={ids.slice(0, 20).join(', ')}>
      <bdi>{kind}</bdi> <code className="font-mono text-xs">{ids[0]}</code>
      {ids.length > 1 && <span> +{ids.length - 1}</span>}
    </div>
  )
}
