import { Plural } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useWorkspace } from '../../app/workspace.ts'
import { ScopeName } from './scope-name.tsx'
import { WebhookMenu } from './webhook-menu.tsx'
import { StateReason, WebhookState } from './webhook-state.tsx'
import type { Webhook } from './webhook-values.ts'

/** One webhook: where it leads, what it sends, and how it fares. */
export function WebhookRow({ webhook }: { webhook: Webhook }) {
  const { can } = useWorkspace()
  const { id, name, url, triggers, linkScope } = webhook
  return (
    <li className="flex items-start gap-x-4 gap-y-1 border-b px-3.5 py-2 text-sm last:border-b-0">
      <div className="grid min-w-0 flex-1 gap-x-4 gap-y-1 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="min-w-0">
          <Link
            from="/$workspace"
            to="/$workspace/settings/webhooks/$id"
            params={{ id }}
            className="block truncate rounded-sm font-medium hover:underline"
          >
            <bdi>{name}</bdi>
          </Link>
          <p className="truncate text-xs text-muted" title={url}>
            <bdi>{url}</bdi>
          </p>
          <p className="truncate text-xs text-muted" title={triggers.join(', ')}>
            <Plural value={triggers.length} one="# trigger" other="# triggers" /> · <ScopeName scope={linkScope} />
          </p>
        </div>
        <div className="min-w-0 md:text-right">
          <WebhookState webhook={webhook} />
          <p className="text-xs text-balance text-muted">
            <StateReason webhook={webhook} />
          </p>
        </div>
      </div>
      {can('webhooks.write') && <WebhookMenu webhook={webhook} />}
    </li>
  )
}
