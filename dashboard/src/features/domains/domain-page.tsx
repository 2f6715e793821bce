import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, Link as RouteLink } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { DomainMenu } from './domain-menu.tsx'
import { DomainSettings } from './domain-settings.tsx'
import { type Domain, useDomain } from './queries.ts'
import { SetupPagePanel } from './setup-page-panel.tsx'
import { StatusPanels } from './status-panels.tsx'

const DomainDrawer = lazy(async () => ({ default: (await import('./domain-drawer.tsx')).DomainDrawer }))
const route = getRouteApi('/$workspace/domains/$slug')

/** One domain: its DNS records, certificate and settings. */
export function DomainPage() {
  const { slug } = route.useParams()
  const { domain, error, refetch, isPlaceholderData } = useDomain(slug)
  if (error && !domain) return <ErrorMessage scope="page" error={error} retry={() => void refetch()} />
  if (domain === null && !isPlaceholderData) return <NoSuchDomain slug={slug} />
  if (!domain) {
    return (
      <Page title={<bdi>{slug}</bdi>}>
        <Panel>
          <RowsLoading />
        </Panel>
      </Page>
    )
  }
  return <LoadedDomain key={domain.id} domain={domain} />
}

function LoadedDomain({ domain }: { domain: Domain }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const navigate = route.useNavigate()
  const [isEditing, setEditing] = useState(false)
  const canWrite = can('domains.write')
  const { slug } = domain
  useCommands(canWrite ? [{ id: 'domains.edit', name: t`Edit domain`, keys: 'e', run: () => setEditing(true) }] : [])
  return (
    <Page
      title={
        <span className="flex min-w-0 items-center gap-1">
          <bdi className="truncate">{slug}</bdi>
          <CopyButton text={slug} label={t`Copy ${slug}`} />
        </span>
      }
      actions={
        canWrite && (
          <>
            <Button onClick={() => setEditing(true)}>
              <Trans>Edit domain</Trans>
              <Kbd>E</Kbd>
            </Button>
            <DomainMenu domain={domain} onDeleted={() => void navigate({ to: '/$workspace/domains' })} />
          </>
        )
      }
    >
      <p className="mb-4 text-sm text-muted">
        <RouteLink from="/$workspace" to="/$workspace/domains" className="underline hover:text-ink">
          <Trans>All domains</Trans>
        </RouteLink>
      </p>
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_340px]">
        <div className="flex min-w-0 flex-col gap-4">
          <StatusPanels slug={slug} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          {canWrite && <SetupPagePanel slug={slug} />}
          <DomainSettings domain={domain} />
        </div>
      </div>
      <Suspense>{isEditing && <DomainDrawer domain={domain} onClose={() => setEditing(false)} />}</Suspense>
    </Page>
  )
}

function NoSuchDomain({ slug }: { slug: string }) {
  return (
    <Message
      scope="page"
      title={<Trans>This workspace has no domain {slug}</Trans>}
      action={
        <Button asChild>
          <RouteLink from="/$workspace" to="/$workspace/domains">
            <Trans>All domains</Trans>
          </RouteLink>
        </Button>
      }
    >
      <p>
        <Trans>It was renamed, deleted, or never added.</Trans>
      </p>
    </Message>
  )
}
