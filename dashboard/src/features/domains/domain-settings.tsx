import { Trans } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { type Detail, Details } from '../../ui/details.tsx'
import { Count, Time } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { type Domain, useLinkCounts } from './queries.ts'
import { useRootLink } from './save-domain.ts'

/** How a domain is set up; addresses that are not set say what visitors get instead. */
export function DomainSettings({ domain }: { domain: Domain }) {
  const { timeZone } = useWorkspaceSettings()
  const counts = useLinkCounts()
  const { link: root } = useRootLink(domain.slug)
  const rows: Detail[] = [
    [
      'links',
      <Trans key="n">Links</Trans>,
      <RouteLink
        key="v"
        from="/$workspace"
        to="/$workspace/links"
        search={{ domain: domain.slug }}
        className="underline hover:text-ink"
      >
        <Count value={counts.get(domain.slug) ?? 0} />
        <span className="sr-only">
          <Trans>links on this domain</Trans>
        </span>
      </RouteLink>,
    ],
    ['default', <Trans key="n">Default</Trans>, domain.primary && <Trans key="v">for new links</Trans>],
    ['archived', <Trans key="n">Archived</Trans>, domain.archived && <Trans key="v">hidden from lists</Trans>],
    ['root', <Trans key="n">Bare domain</Trans>, root?.url || <PlainPage key="v" />],
    ['unknown', <Trans key="n">Unknown links</Trans>, domain.notFoundUrl || <PlainPage key="v" />],
    ['expired', <Trans key="n">Expired links</Trans>, domain.expiredUrl || <PlainPage key="v" />],
    ['placeholder', <Trans key="n">Placeholder</Trans>, domain.placeholder],
    ['android', 'Android', domain.assetLinks && <Trans key="v">assetlinks.json is set</Trans>],
    ['ios', 'iOS', domain.appleAppSiteAssociation && <Trans key="v">apple-app-site-association is set</Trans>],
    ['added', <Trans key="n">Added</Trans>, <Time key="v" at={domain.createdAt} timeZone={timeZone} />],
  ]
  return (
    <Panel className="p-4">
      <h2 className="mb-2">
        <Trans>Settings</Trans>
      </h2>
      <Details rows={rows} />
    </Panel>
  )
}

function PlainPage() {
  return (
    <span className="text-muted">
      <Trans>a plain page</Trans>
    </span>
  )
}
