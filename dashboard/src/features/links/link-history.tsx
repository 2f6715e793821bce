import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { OperationAnswer } from '@tributary/contract/client'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Time } from '../../ui/figures.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useWorkspaceSettings } from './queries.ts'

type Change = OperationAnswer<'listLinkHistory'>[number]

const verbs: Record<string, MessageDescriptor> = {
  createLink: msg`created the link`,
  bulkCreateLinks: msg`created the link`,
  upsertLink: msg`created or changed the link`,
  updateLink: msg`changed the link`,
  bulkUpdateLinks: msg`changed the link`,
  createBulkOperation: msg`changed the link with others`,
  undoBulkOperation: msg`undid a change`,
  deleteLink: msg`deleted the link`,
  bulkDeleteLinks: msg`deleted the link`,
  restoreLink: msg`restored the link`,
}

/** Who changed the link, when and how; newest first. */
export function LinkHistory({ linkId }: { linkId: string }) {
  const { data: changes, error } = useOperation('listLinkHistory', { params: { linkId }, query: { pageSize: 50 } })
  const { can } = useWorkspace()
  const { data: members = [] } = useOperation(
    'listMembers',
    { query: { pageSize: 100 } },
    { enabled: can('workspaces.read') },
  )
  return (
    <>
      <h2 className="mb-2">
        <Trans>History</Trans>
      </h2>
      {error && <p className="text-sm text-harm">{error.message}</p>}
      {!changes && !error && <Skeleton className="w-64" />}
      {changes?.length === 0 && (
        <p className="text-sm text-muted">
          <Trans>No changes are recorded.</Trans>
        </p>
      )}
      <ol className="text-sm">
        {changes?.map((change, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: changes have no id, and never change
          <Entry key={index} change={change} name={members.find(({ userId }) => userId === change.actor.id)?.name} />
        ))}
      </ol>
    </>
  )
}

function Entry({ change, name }: { change: Change; name: string | undefined }) {
  const { t } = useLingui()
  const { timeZone } = useWorkspaceSettings()
  const { at, actor, operation, before, after } = change
  const kinds: Record<string, string> = { key: t`An API key`, user: t`A member`, app: t`An app` }
  const verb = verbs[operation]
  const fields = before && after ? Object.keys(after).filter((field) => field !== 'updatedAt') : []
  return (
    <li className="border-b py-2 last:border-b-0">
      <div className="flex gap-3">
        <span className="min-w-0 flex-1 wrap-anywhere">
          <bdi className="font-medium">{name ?? kinds[actor.kind] ?? t`The system`}</bdi> {verb ? t(verb) : operation}
        </span>
        <span className="text-xs text-muted">
          <Time at={at} timeZone={timeZone} />
        </span>
      </div>
      {fields.length > 0 && (
        <ul className="mt-1 flex flex-col gap-0.5 text-xs text-muted">
          {fields.slice(0, 20).map((field) => (
            <li key={field} className="wrap-anywhere">
              <code className="font-mono">{field}</code>: <bdi>{describeValue(before?.[field])}</bdi> →{' '}
              <bdi className="text-ink">{describeValue(after?.[field])}</bdi>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

const mostShown = 200

/** A value of a change in one line. */
function describeValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'object' && 'redacted' in value) return '•••'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
}
