import { Trans } from '@lingui/react/macro'
import type { Webhook } from './webhook-values.ts'

/** Which links' events a webhook gets. */
export function ScopeName({ scope }: { scope: Webhook['linkScope'] }) {
  if (scope === 'folders') return <Trans>links of some folders</Trans>
  if (scope === 'links') return <Trans>some links</Trans>
  return <Trans>all links</Trans>
}
