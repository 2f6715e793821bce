import { Trans } from '@lingui/react/macro'
import { Time } from '../../ui/figures.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import type { Webhook } from './webhook-values.ts'

type Phase = 'active' | 'failing' | 'disabled'

export function webhookPhase({ disabledAt, failingSince }: Pick<Webhook, 'disabledAt' | 'failingSince'>): Phase {
  if (disabledAt !== null) return 'disabled'
  return failingSince === null ? 'active' : 'failing'
}

const kinds: Record<Phase, StateKind> = { active: 'good', failing: 'waiting', disabled: 'harm' }

/** A word for the state. What a person disabled needs no attention. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const phase = webhookPhase(webhook)
  return (
    <State kind={webhook.disabledReason === 'asked' ? 'none' : kinds[phase]}>
      {phase === 'active' && <Trans>Active</Trans>}
      {phase === 'failing' && <Trans>Failing</Trans>}
      {phase === 'disabled' && <Trans>Disabled</Trans>}
    </State>
  )
}

/** Why a webhook is disabled or since when it fails; nothing for one that works. */
export function StateReason({ webhook }: { webhook: Webhook }) {
  const { timeZone } = useWorkspaceSettings()
  const { disabledAt, disabledReason, failingSince } = webhook
  if (disabledAt !== null) {
    const time = <Time at={disabledAt} timeZone={timeZone} />
    if (disabledReason === 'gone')
      return <Trans>disabled {time}: the receiver answered 410, it wants no more events</Trans>
    if (disabledReason === 'failing') return <Trans>disabled {time}, after five days without success</Trans>
    return <Trans>disabled {time} by a person or a program</Trans>
  }
  if (failingSince === null) return null
  return (
    <Trans>
      every delivery has failed; the first one <Time at={failingSince} timeZone={timeZone} />
    </Trans>
  )
}
