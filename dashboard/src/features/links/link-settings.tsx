import { Trans } from '@lingui/react/macro'
import { useOperation } from '../../app/queries.ts'
import { type Detail, Details } from '../../ui/details.tsx'
import { Time } from '../../ui/figures.tsx'
import { Tag } from '../../ui/tag.tsx'
import { utmNames } from './builder-values.ts'
import { type Link, useWorkspaceSettings } from './queries.ts'

/** How a link is set up; settings without a value are left out. */
export function LinkSettings({ link }: { link: Link }) {
  const { timeZone } = useWorkspaceSettings()
  const { data: folders } = useOperation(
    'listFolders',
    { query: { pageSize: 100 } },
    { enabled: link.folderId !== null },
  )
  const folder = folders?.find(({ id }) => id === link.folderId)?.name
  const rows: Detail[] = [
    ['url', <Trans key="n">Destination</Trans>, link.url],
    ['title', <Trans key="n">Title</Trans>, link.title],
    ['folder', <Trans key="n">Folder</Trans>, folder],
    ['tags', <Trans key="n">Tags</Trans>, link.tags?.length ? <AllTags key="v" tags={link.tags} /> : null],
    ['comments', <Trans key="n">Comment</Trans>, link.comments],
    ...utmNames.map((name): Detail => [name, name, link[name]]),
    [
      'expires',
      <Trans key="n">Expires</Trans>,
      link.expiresAt && <Time key="v" at={link.expiresAt} timeZone={timeZone} />,
    ],
    ['expired', <Trans key="n">Destination afterwards</Trans>, link.expiredUrl],
    ['password', <Trans key="n">Password</Trans>, link.password && <Trans key="v">set</Trans>],
    ['ios', 'iOS', link.ios],
    ['android', 'Android', link.android],
    ['geo', <Trans key="n">Countries</Trans>, link.geo && <Addresses key="v" named={Object.entries(link.geo)} />],
    [
      'test',
      <Trans key="n">A/B test</Trans>,
      link.testVariants && (
        <Addresses key="v" named={link.testVariants.map(({ url, percentage }) => [`${percentage} %`, url])} />
      ),
    ],
    [
      'conversion',
      <Trans key="n">Leads and sales</Trans>,
      link.trackConversion ? <Trans key="v">tracked</Trans> : <Trans key="v">not tracked</Trans>,
    ],
    ['rewrite', <Trans key="n">Short address</Trans>, link.rewrite && <Trans key="v">stays in the browser</Trans>],
    ['index', <Trans key="n">Search engines</Trans>, link.doIndex && <Trans key="v">index it</Trans>],
    ['publicStats', <Trans key="n">Public page</Trans>, link.publicStats && <PublicPage key="v" linkId={link.id} />],
    ['externalId', <Trans key="n">External id</Trans>, link.externalId],
    ['tenantId', <Trans key="n">Tenant id</Trans>, link.tenantId],
    ['created', <Trans key="n">Created</Trans>, <Time key="v" at={link.createdAt} timeZone={timeZone} />],
    [
      'id',
      <Trans key="n">Id</Trans>,
      <code key="v" className="font-mono text-xs">
        {link.id}
      </code>,
    ],
  ]
  return (
    <>
      <h2 className="mb-2">
        <Trans>Settings</Trans>
      </h2>
      <Details rows={rows} />
    </>
  )
}

/** The page of a link whose statistics are public (`publicStats`). */
function PublicPage({ linkId }: { linkId: string }) {
  const url = `${location.origin}/share/${linkId}`
  return (
    <a href={url} target="_blank" rel="noreferrer noopener" className="underline hover:text-ink">
      {url}
    </a>
  )
}

function AllTags({ tags }: { tags: NonNullable<Link['tags']> }) {
  return (
    <span className="flex flex-wrap gap-1">
      {tags.map(({ id, name, color }) => (
        <Tag key={id} color={color}>
          {name}
        </Tag>
      ))}
    </span>
  )
}

function Addresses({ named }: { named: [string, string][] }) {
  return (
    <ul>
      {named.map(([name, url]) => (
        <li key={`${name} ${url}`}>
          <span className="text-muted">{name}</span> {url}
        </li>
      ))}
    </ul>
  )
}
