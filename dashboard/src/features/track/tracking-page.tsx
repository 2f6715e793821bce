import { Trans } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { InstallCheckPanel } from '../install-checks/install-check.tsx'
import { HostsForm } from './hosts-form.tsx'
import { ScriptPanel } from './script-panel.tsx'
import { TestEvents } from './test-events.tsx'

const route = getRouteApi('/$workspace/settings/tracking')

/** The script, whether it is installed, which pages may report, and a test of the whole way. */
export function TrackingPage() {
  return <Sections />
}

function Sections() {
  const { slug } = useWorkspace()
  const { check } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: workspace, error, refetch } = useOperation('getWorkspace', { params: { idOrSlug: slug } })
  if (error && !workspace) return <ErrorMessage error={error} retry={() => void refetch()} />
  if (!workspace) {
    return (
      <Panel>
        <RowsLoading />
      </Panel>
    )
  }
  const { allowedHostnames } = workspace
  return (
    <>
      <ScriptPanel />
      <Section
        title={<Trans>Check the installation</Trans>}
        description={<Trans>Enter the address of a page with the script. The page itself then reports in here.</Trans>}
      >
        <InstallCheckPanel
          check={check}
          hosts={allowedHostnames.filter((host) => !host.startsWith('*'))}
          onCheck={(id) => void navigate({ search: { check: id }, replace: true, resetScroll: false })}
        />
      </Section>
      <HostsForm key={allowedHostnames.join()} hostnames={allowedHostnames} />
      <TestEvents currency={workspace.currency} />
    </>
  )
}
