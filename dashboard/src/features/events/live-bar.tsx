import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Pause, Play } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import type { LiveState } from './live-events.ts'
import type { PauseReason } from './pause.ts'

const states: Record<LiveState, [StateKind, MessageDescriptor]> = {
  connecting: ['waiting', msg`Connecting`],
  live: ['good', msg`Live`],
  polling: ['good', msg`New ones every 5 seconds`],
  reconnecting: ['waiting', msg`Reconnecting`],
  offline: ['harm', msg`Offline, trying again`],
  failed: ['harm', msg`Not live`],
  ended: ['none', msg`Not live: the period is over`],
}

const reasons: Record<PauseReason, MessageDescriptor> = {
  chosen: msg`Paused`,
  open: msg`Paused while you look at an event`,
  pointer: msg`Paused while you point at the list`,
  focus: msg`Paused while the list has the focus`,
  scrolled: msg`Paused while you read further down`,
}

type Props = { state: LiveState; reason: PauseReason | undefined; isChosen: boolean; onToggle(): void }

/** Whether new events appear by themselves, and the button that stops them. */
export function LiveBar({ state, reason, isChosen, onToggle }: Props) {
  const { t } = useLingui()
  const isLive = state === 'live' || state === 'polling'
  const [kind, text] = isLive && reason ? (['none', reasons[reason]] as const) : states[state]
  if (state === 'ended') return <p className="mb-3 ml-auto flex min-h-8 items-center text-sm text-muted">{t(text)}</p>
  return (
    <div className="mb-3 ml-auto flex min-w-0 items-center gap-3">
      <span role="status" className="min-w-0 text-sm text-muted">
        <State kind={kind}>{t(text)}</State>
      </span>
      <Button onClick={onToggle}>
        {isChosen ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />}
        {isChosen ? <Trans>Resume</Trans> : <Trans>Pause</Trans>}
        <Kbd>{t`Space`}</Kbd>
      </Button>
    </div>
  )
}

type WaitingProps = { count: number; isMore: boolean; onShow(): void }

/** A button over the first row, below the headings of the list, that shows the events that wait. */
export function WaitingEvents({ count, isMore, onShow }: WaitingProps) {
  if (count === 0 && !isMore) return null
  return (
    <div className="pointer-events-none sticky top-2 z-20 flex h-0 justify-center">
      <Button kind="first" size="small" className="pointer-events-auto mt-1.5 shadow-overlay md:mt-10" onClick={onShow}>
        {isMore ? <Trans>Show new events</Trans> : <Plural value={count} one="Show # new" other="Show # new" />}
        <Kbd>N</Kbd>
      </Button>
    </div>
  )
}
