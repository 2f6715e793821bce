import { useLingui } from '@lingui/react/macro'
import { relativeChange } from './compare-rows.ts'

/** The change from what was before in percent, with an arrow beside the colour. */
export function Change({ now, before }: { now: number; before: number }) {
  const { i18n, t } = useLingui()
  const change = relativeChange(now, before)
  if (change === undefined) return <span className="text-muted">{now === before ? '±0' : t`new`}</span>
  const text = i18n.number(Math.abs(change), { style: 'percent', maximumFractionDigits: change > 10 ? 0 : 1 })
  const [arrow, color] = change > 0 ? ['↑', 'text-good'] : change < 0 ? ['↓', 'text-harm'] : ['', 'text-muted']
  return (
    <span className={`whitespace-nowrap ${color}`}>
      {arrow && <span aria-hidden>{arrow} </span>}
      <span className="sr-only">{change > 0 ? t`up by` : change < 0 ? t`down by` : ''} </span>
      {text}
    </span>
  )
}
