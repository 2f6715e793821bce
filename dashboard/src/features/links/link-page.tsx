import { Trans } from '@lingui/react/macro'
import { getRouteApi, Link as RouteLink } from '@tanstack/react-router'
import { ArrowUpRight } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { lazyPart } from '../../app/lazy-part.ts'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Sparkline } from '../../charts/sparkline.tsx'
import { Button } from '../../ui/button.tsx'
import { Count, Money } from '../../ui/figures.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { TableLoading } from '../../ui/rows-loading.tsx'
import { useSeesAnalytics } from '../analytics/access.ts'
import { useSeesEvents } from '../events/access.ts'
import { LatestEvents } from '../events/lazy-latest-events.ts'
import { ShareDialog } from '../shares/share-dialog.tsx'
import { openBuilder } from './builder-state.ts'
import { LinkHistory } from './link-history.tsx'
import { LinkMenu } from './link-menu.tsx'
import { CopyLink } from './link-parts.tsx'
import { LinkSettings } from './link-settings.tsx'
import { type Link, useLinkStats, useWorkspaceSettings } from './queries.ts'
import { designTarget, shortAddress, shortDestination } from './texts.ts'

const QrPanel = lazyPart(['qr-designs'], async () => (await import('../qr-designs/qr-panel.tsx')).QrPanel)
const LinkBreakdowns = lazyPart(['home'], async () => (await import('./link-breakdowns.tsx')).LinkBreakdowns)
const route = getRouteApi('/$workspace/links/$id')

/** One link: its figures, where its clicks came from, its latest events, settings, QR code and history. */
export function LinkPage() {
  const { id } = route.useParams()
  const { data, error, refetch, isPlaceholderData } = useOperation('getLinkInfo', { query: { linkId: id } })
  const link = isPlaceholderData ? undefined : data
  if (error) return <ErrorMessage error={error} retry={() => void refetch()} />
  if (!link) {
    return (
      <Page title={<Trans>Link</Trans>}>
        <Panel>
          <TableLoading />
        </Panel>
      </Page>
    )
  }
  return <LoadedLink link={link} />
}

function LoadedLink({ link }: { link: Link }) {
  const navigate = route.useNavigate()
  const { can } = useWorkspace()
  const seesAnalytics = useSeesAnalytics()
  const seesEvents = useSeesEvents()
  return (
    <Page
      title={
        <span className="flex min-w-0 items-center gap-1">
          <bdi className="truncate">{shortAddress(link)}</bdi>
          <CopyLink link={link} />
        </span>
      }
      actions={
        can('links.write') && (
          <>
            <ShareLink linkId={link.id} />
            <Button onClick={() => openBuilder({ edit: link })}>
              <Trans>Edit link</Trans>
            </Button>
            <LinkMenu link={link} onDeleted={() => void navigate({ to: '/$workspace/links' })} />
          </>
        )
      }
    >
      <p className="mb-4 flex min-w-0 items-center gap-3 text-sm text-muted">
        <RouteLink from="/$workspace" to="/$workspace/links" className="shrink-0 underline hover:text-ink">
          <Trans>All links</Trans>
        </RouteLink>
        <Destination url={link.url} />
      </p>
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_340px]">
        <div className="flex min-w-0 flex-col gap-4">
          <Figures link={link} />
          <Suspense>{seesAnalytics && <LinkBreakdowns linkId={link.id} />}</Suspense>
          <Suspense>{seesEvents && <LatestEvents linkId={link.id} />}</Suspense>
          <Panel className="p-4">
            <LinkHistory linkId={link.id} />
          </Panel>
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Panel className="min-h-36 p-4">
            <Suspense>
              <QrPanel {...designTarget(link)} />
            </Suspense>
          </Panel>
          <Panel className="p-4">
            <LinkSettings link={link} />
          </Panel>
        </div>
      </div>
    </Page>
  )
}

/** Opens the public pages of the link. */
function ShareLink({ linkId }: { linkId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Trans>Share statistics</Trans>
      </Button>
      <ShareDialog subject={{ linkId }} isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  )
}

function Destination({ url }: { url: string }) {
  const content = <bdi className="truncate">{shortDestination(url)}</bdi>
  // Other schemes, such as those of apps, are shown but not opened from here.
  if (!/^https?:/i.test(url)) return content
  return (
    <a href={url} target="_blank" rel="noreferrer noopener" className="flex min-w-0 items-center gap-1 hover:text-ink">
      {content}
      <ArrowUpRight size={14} aria-hidden className="shrink-0" />
    </a>
  )
}

/** Counts of the last 30 days, with those of all time below, or only these. */
function Figures({ link }: { link: Link }) {
  const { currency, timeZone } = useWorkspaceSettings()
  const seesAnalytics = useSeesAnalytics()
  const stats = useLinkStats([link], { period: '30d', series: true, timeZone }).get(link.id)
  const counts = seesAnalytics ? { clicks: 0, leads: 0, sales: 0, saleAmount: 0, ...stats } : link
  const figures: [string, ReactNode, ReactNode, ReactNode][] = [
    [
      'clicks',
      <Trans key="n">Clicks</Trans>,
      <Count key="v" value={counts.clicks} />,
      link.clicks > 0 && <Count key="a" value={link.clicks} />,
    ],
    [
      'leads',
      <Trans key="n">Leads</Trans>,
      <Count key="v" value={counts.leads} />,
      link.leads > 0 && <Count key="a" value={link.leads} />,
    ],
    [
      'sales',
      <Trans key="n">Sales</Trans>,
      <Count key="v" value={counts.sales} />,
      link.sales > 0 && <Count key="a" value={link.sales} />,
    ],
    [
      'revenue',
      <Trans key="n">Revenue</Trans>,
      <Money key="v" amount={counts.saleAmount} currency={currency} />,
      link.saleAmount > 0 && <Money key="a" amount={link.saleAmount} currency={currency} />,
    ],
  ]
  return (
    <Panel className="p-4">
      <h2 className="mb-3">{seesAnalytics ? <Trans>Last 30 days</Trans> : <Trans>All time</Trans>}</h2>
      <dl className="grid grid-cols-4 gap-4 max-md:grid-cols-2">
        {figures.map(([id, name, value, allTime]) => (
          <div key={id}>
            <dt className="text-sm text-muted">{name}</dt>
            <dd>
              <div className="text-lg">{value}</div>
              {seesAnalytics && allTime && (
                <div className="text-xs text-muted">
                  <Trans>{allTime} in all</Trans>
                </div>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {seesAnalytics && (
        <div className="mt-4 overflow-hidden">
          <Sparkline
            values={stats?.series?.map(({ clicks }) => clicks) ?? []}
            width={720}
            height={72}
            className="w-full text-clicks"
          />
        </div>
      )}
    </Panel>
  )
}
