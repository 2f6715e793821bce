import { Trans, useLingui } from '@lingui/react/macro'
import { CodeBlock } from '../../ui/code-block.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatExactTime, formatNumber } from '../../ui/format.ts'
import { State } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import type { DeliveryInFull } from './webhook-values.ts'

type Attempt = DeliveryInFull['log'][number]

/** Every attempt, newest first: what the receiver answered, how long it took, and why it failed. */
export function Attempts({ log }: { log: readonly Attempt[] }) {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-medium">
        <Trans>Attempts</Trans>
      </h3>
      {log.length === 0 && (
        <p className="text-sm text-muted">
          <Trans>None yet.</Trans>
        </p>
      )}
      <ol className="text-sm">
        {log.map((attempt) => (
          <AttemptItem key={attempt.number} attempt={attempt} />
        ))}
      </ol>
    </section>
  )
}

function AttemptItem({ attempt }: { attempt: Attempt }) {
  const { t } = useLingui()
  const locale = useLocale()
  const { timeZone } = useWorkspaceSettings()
  const { number, at, durationMs, responseStatus, responseExcerpt, problem } = attempt
  const duration = formatNumber(durationMs, locale)
  return (
    <li className="flex flex-col gap-1 border-b py-2 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3">
        <span className="mr-auto">
          <State kind={problem === null ? 'good' : 'harm'}>
            {responseStatus === null ? <Trans>No response</Trans> : <Trans>Status {responseStatus}</Trans>}
          </State>
        </span>
        <span className="text-xs text-muted">
          <Trans>{duration} ms</Trans> · <time dateTime={at}>{formatExactTime(at, locale, timeZone)}</time>
        </span>
      </div>
      {problem && <p className="wrap-anywhere">{problem}</p>}
      {responseExcerpt && <CodeBlock label={t`Response of attempt ${number}`} code={responseExcerpt} />}
    </li>
  )
}
