import { Trans } from '@lingui/react/macro'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { DangerZone } from './danger-zone.tsx'
import { GeneralForm } from './general-form.tsx'

/** Name, address, time zone, currency and attribution of the workspace. */
export function GeneralPage() {
  const { slug, can } = useWorkspace()
  const { data, error, refetch } = useOperation('getWorkspace', { params: { idOrSlug: slug } })
  const canWrite = can('workspaces.write')
  return (
    <>
      <Section
        title={<Trans>General</Trans>}
        description={!canWrite && <Trans>Owners and admins change these settings.</Trans>}
      >
        {error && !data ? (
          <Panel>
            <ErrorMessage error={error} retry={() => void refetch()} />
          </Panel>
        ) : !data ? (
          <Panel>
            <RowsLoading />
          </Panel>
        ) : (
          <GeneralForm key={data.id} workspace={data} isReadOnly={!canWrite} />
        )}
      </Section>
      <DangerZone />
    </>
  )
}
