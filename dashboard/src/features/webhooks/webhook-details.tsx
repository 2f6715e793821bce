import { Trans, useLingui } from '@lingui/react/macro'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Details } from '../../ui/details.tsx'
import { Time } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { ScopeName } from './scope-name.tsx'
import { triggerNames } from './trigger-names.ts'
import type { Webhook } from './webhook-values.ts'

/** What a webhook sends. */
export function WebhookDetails({ webhook }: { webhook: Webhook }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const { timeZone } = useWorkspaceSettings()
  const { linkScope, folderIds, triggers, createdAt } = webhook
  const { data: folders = [] } = useOperation(
    'listFolders',
    { query: { pageSize: 100 } },
    { enabled: linkScope === 'folders' && can('folders.read') },
  )
  const folderNames = folderIds.map((id) => folders.find((folder) => folder.id === id)?.name ?? id)
  return (
    <Panel className="px-4 py-2">
      <Details
        rows={[
          [
            'triggers',
            <Trans key="name">Triggers</Trans>,
            <ul key="value" className="flex flex-wrap gap-x-4">
              {triggers.map((trigger) => (
                <li key={trigger} title={t(triggerNames[trigger])}>
                  <code className="font-mono text-xs">{trigger}</code>
                </li>
              ))}
            </ul>,
          ],
          [
            'scope',
            <Trans key="name">Events of</Trans>,
            folderNames.length > 0 ? (
              <bdi key="value">{folderNames.join(', ')}</bdi>
            ) : (
              <ScopeName key="value" scope={linkScope} />
            ),
          ],
          ['created', <Trans key="name">Created</Trans>, <Time key="value" at={createdAt} timeZone={timeZone} />],
        ]}
      />
    </Panel>
  )
}
