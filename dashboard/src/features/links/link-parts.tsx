import { Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Tag } from '../../ui/tag.tsx'
import type { Link } from './queries.ts'
import { shortAddress, shortDestination } from './texts.ts'

/** The short address, which opens the link's page. */
export function LinkName({ link, className = '' }: { link: Link; className?: string }) {
  return (
    <RouteLink
      from="/$workspace"
      to="/$workspace/links/$id"
      params={{ id: link.id }}
      data-row-link
      className={`block min-w-0 truncate rounded-sm font-medium ${className}`}
      title={shortAddress(link)}
    >
      <bdi>{shortAddress(link)}</bdi>
    </RouteLink>
  )
}

/** The destination and what is special about the link. */
export function LinkDetails({ link }: { link: Link }) {
  return (
    <div className="flex min-w-0 items-center text-xs text-muted" title={link.url}>
      <bdi className="truncate">{shortDestination(link.url)}</bdi>
      <LinkState link={link} />
    </div>
  )
}

function LinkState({ link }: { link: Link }) {
  const isExpired = link.expiresAt !== '' && Date.parse(link.expiresAt) <= Date.now()
  const states = [
    link.archived && <Trans key="archived">archived</Trans>,
    link.disabledAt !== '' && <Trans key="disabled">disabled</Trans>,
    isExpired && <Trans key="expired">expired</Trans>,
    link.password && <Trans key="password">password</Trans>,
    link.testVariants && <Trans key="test">A/B test</Trans>,
    (link.geo || link.ios || link.android) && <Trans key="targets">targets</Trans>,
  ].filter(Boolean)
  if (states.length === 0) return null
  return (
    <span className="shrink-0 whitespace-pre">
      {states.map((state, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
        <span key={index}> · {state}</span>
      ))}
    </span>
  )
}

export function CopyLink({ link, className }: { link: Link; className?: string }) {
  const { t } = useLingui()
  return <CopyButton text={link.shortLink} label={t`Copy ${shortAddress(link)}`} className={className} />
}

const mostTags = 2

export function Tags({ tags }: { tags: Link['tags'] }) {
  if (!tags?.length) return null
  const rest = tags.slice(mostTags)
  return (
    <span className="flex min-w-0 gap-1">
      {tags.slice(0, mostTags).map(({ id, name, color }) => (
        <Tag key={id} color={color}>
          {name}
        </Tag>
      ))}
      {rest.length > 0 && (
        <span title={rest.map(({ name }) => name).join(', ')} className="text-xs leading-5 text-muted">
          +{rest.length}
        </span>
      )}
    </span>
  )
}
