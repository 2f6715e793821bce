import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { OperatorStatus } from '@tributary/contract/operator'
import { useLocale } from '../../ui/figures.tsx'
import { formatNumber } from '../../ui/format.ts'
import { CheckGroup, CheckRow } from './check-row.tsx'
import { formatDuration } from './duration.ts'

type Queue = OperatorStatus['queues'][number]

/** The name of each queue, and what to do when it grows old. */
const queueTexts: Record<Queue['name'], [name: MessageDescriptor, advice: MessageDescriptor]> = {
  clicks: [
    msg`Clicks to store`,
    msg`Clicks are in the event log and late in analytics. Nothing is lost while the log has room. Check the worker and ClickHouse; if both are fine and busy, add partitions and workers.`,
  ],
  spool: [
    msg`Spooled clicks`,
    msg`Redirects could not reach NATS and store clicks on their own disk. Check NATS; the clicks follow by themselves.`,
  ],
  conversions: [
    msg`Leads and sales to store`,
    msg`They are safe in PostgreSQL and late in analytics. Check the worker and ClickHouse.`,
  ],
  outbox: [msg`Outbox`, msg`Changes of links reach redirects late, and webhooks wait. Check NATS and the worker.`],
  webhooks: [
    msg`Webhook deliveries`,
    msg`Receivers are slow or down, or the worker has too few slots: WEBHOOK_CONCURRENCY.`,
  ],
  notifications: [msg`Notifications`, msg`E-mails wait. Check the worker and the mail server.`],
}

export function QueuesPart({ queues }: Pick<OperatorStatus, 'queues'>) {
  return (
    <CheckGroup title={<Trans>Queues</Trans>} description={<Trans>What waits, and for how long.</Trans>}>
      {queues.map((queue) => (
        <QueueRow key={queue.name} queue={queue} />
      ))}
    </CheckGroup>
  )
}

function QueueRow({ queue: { name, state, waiting, oldestSeconds } }: { queue: Queue }) {
  const { t } = useLingui()
  const [label, advice] = queueTexts[name]
  return (
    <CheckRow state={state} name={t(label)} value={<QueueValue waiting={waiting} oldestSeconds={oldestSeconds} />}>
      {state !== 'good' && <p>{t(advice)}</p>}
    </CheckRow>
  )
}

function QueueValue({ waiting, oldestSeconds }: Pick<Queue, 'waiting' | 'oldestSeconds'>) {
  const locale = useLocale()
  if (waiting === null && oldestSeconds === null) return <Trans>not reported</Trans>
  const age = formatDuration(oldestSeconds ?? 0, locale)
  if (!oldestSeconds || oldestSeconds < 1) {
    return waiting ? <Trans>{formatNumber(waiting, locale)} waiting</Trans> : <Trans>empty</Trans>
  }
  if (waiting === null) return <Trans>oldest {age}</Trans>
  return (
    <Trans>
      {formatNumber(waiting, locale)} waiting, oldest {age}
    </Trans>
  )
}

type Problem = OperatorStatus['problems'][number]

const problemTexts: Record<Problem['name'], [name: MessageDescriptor, advice: MessageDescriptor]> = {
  dead_letters: [
    msg`Dead letters`,
    msg`Events or messages were refused and wait for you. “tributary events dead-letters” lists them with the reason; then retry or drop them.`,
  ],
  clicks_lost: [
    msg`Lost clicks`,
    msg`Neither NATS nor the spool took these clicks, since the processes started. Check the disk of the spool and SPOOL_MAX_MEGABYTES.`,
  ],
  records_lost: [
    msg`Records lost by a restore`,
    msg`PostgreSQL was restored to an older state. “tributary verify” names what is missing.`,
  ],
  webhook_events_dropped: [
    msg`Dropped webhook events`,
    msg`Workspaces had too much waiting for their receivers, since the processes started: WEBHOOK_STORAGE_MEGABYTES.`,
  ],
}

export function ProblemsPart({ problems }: Pick<OperatorStatus, 'problems'>) {
  const { t } = useLingui()
  const locale = useLocale()
  return (
    <CheckGroup title={<Trans>Losses and refusals</Trans>}>
      {problems.map(({ name, state, count }) => (
        <CheckRow
          key={name}
          state={state}
          name={t(problemTexts[name][0])}
          value={count === 0 ? <Trans>none</Trans> : formatNumber(count, locale)}
        >
          {state !== 'good' && <p>{t(problemTexts[name][1])}</p>}
        </CheckRow>
      ))}
    </CheckGroup>
  )
}
