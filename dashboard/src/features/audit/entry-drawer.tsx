import { Trans, useLingui } from '@lingui/react/macro'
import type { CursorList } from '../../app/cursor-list.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { type Detail, Details } from '../../ui/details.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatExactTime } from '../../ui/format.ts'
import { Message } from '../../ui/message.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Steps } from '../../ui/steps.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { ActorName, useActorKind } from './actor-name.tsx'
import { ChangeFields } from './change-fields.tsx'
import type { AuditEntry } from './entry.ts'

type Props = {
  sequence: number
  /** The list that it was opened from, to step through. */
  list: CursorList<AuditEntry> | undefined
  onStep(entry: AuditEntry): void
  /** Shows all entries about an object. */
  onObject(id: string): void
  onClose(): void
}

/** One entry: who, from where, and what changed. */
export function EntryDrawer({ sequence, list, onStep, onObject, onClose }: Props) {
  const { t } = useLingui()
  const index = list ? list.loaded.findIndex((one) => one.sequence === sequence) : -1
  const listed = list?.loaded[index]
  const beside = (step: 1 | -1) => (index === -1 ? undefined : list?.loaded[index + step])
  const [previous, next] = [beside(-1), beside(1)]
  // An entry of an address that somebody sent may be far down, or left out by the filters.
  const query = { cursor: String(sequence + 1), pageSize: 1 }
  const { data, error, refetch } = useOperation('listAuditLog', { query }, { enabled: !listed })
  const entry = listed ?? data?.find((one) => one.sequence === sequence)
  return (
    <Drawer
      title={entry?.operation ?? <Trans>Entry {sequence}</Trans>}
      onClose={onClose}
      footer={
        <Steps
          labels={{ previous: t`Newer entry`, next: t`Older entry` }}
          onPrevious={previous && (() => onStep(previous))}
          onNext={next && (() => onStep(next))}
        />
      }
    >
      {entry ? (
        <Entry entry={entry} onObject={onObject} />
      ) : error ? (
        <ErrorMessage error={error} retry={() => void refetch()} />
      ) : data ? (
        <Message title={<Trans>There is no entry {sequence}</Trans>} />
      ) : (
        <RowsLoading />
      )}
    </Drawer>
  )
}

function Entry({ entry, onObject }: { entry: AuditEntry; onObject(id: string): void }) {
  const { t } = useLingui()
  const locale = useLocale()
  const { timeZone } = useWorkspaceSettings()
  const kindName = useActorKind()
  const { sequence, at, actor, operation, target, requestId, changes, hash } = entry
  const code = (text: string | null) => text && <code className="font-mono text-xs">{text}</code>
  const rows: Detail[] = [
    ['who', <Trans key="who">Who</Trans>, <ActorName key="value" actor={actor} />],
    ['kind', <Trans key="kind">Kind</Trans>, kindName(actor.kind)],
    ['actor', <Trans key="actor">Actor id</Trans>, code(actor.id)],
    ['credential', <Trans key="credential">Key or session</Trans>, code(actor.credential)],
    ['network', <Trans key="network">Network</Trans>, code(actor.network)],
    [
      'when',
      <Trans key="when">When</Trans>,
      <time key="value" dateTime={at}>
        {formatExactTime(at, locale, timeZone)}
      </time>,
    ],
    ['operation', <Trans key="operation">Operation</Trans>, code(operation)],
    ['request', <Trans key="request">Request</Trans>, code(requestId)],
    ['sequence', <Trans key="sequence">Number</Trans>, sequence],
    [
      'hash',
      <Trans key="hash">Hash</Trans>,
      <span key="value" className="flex items-start gap-1">
        <code className="min-w-0 flex-1 font-mono text-xs">{hash}</code>
        <CopyButton text={hash} label={t`Copy the hash`} />
      </span>,
    ],
  ]
  return (
    <div className="flex flex-col gap-5">
      <Details rows={rows} />
      <Objects target={target} onObject={onObject} />
      <section className="flex flex-col gap-3">
        <h3 className="font-medium">
          <Trans>Changes</Trans>
        </h3>
        {changes.length === 0 && (
          <p className="text-sm text-muted">
            <Trans>No values are recorded for this entry.</Trans>
          </p>
        )}
        {changes.map((change, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: changes of an entry never change, and may be about the same object
          <ChangeFields key={index} change={change} />
        ))}
      </section>
    </div>
  )
}

const mostObjects = 50

function Objects({ target: { kind, ids }, onObject }: Pick<AuditEntry, 'target'> & Pick<Props, 'onObject'>) {
  const { t } = useLingui()
  if (ids.length === 0) return null
  const rest = ids.length - mostObjects
  return (
    <section className="flex flex-col gap-1">
      <h3 className="font-medium">
        <Trans>Objects</Trans> <span className="font-normal text-muted">{kind}</span>
      </h3>
      <ul className="text-sm">
        {ids.slice(0, mostObjects).map((id) => (
          <li key={id} className="flex items-center gap-2">
            <code className="min-w-0 flex-1 truncate font-mono text-xs">{id}</code>
            <Button kind="quiet" size="small" aria-label={t`All entries about ${id}`} onClick={() => onObject(id)}>
              <Trans>All entries</Trans>
            </Button>
          </li>
        ))}
        {rest > 0 && <li className="text-muted">+{rest}</li>}
      </ul>
    </section>
  )
}
