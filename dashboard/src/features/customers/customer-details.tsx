import { Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { CopyButton } from '../../ui/copy-button.tsx'
import { type Detail, Details } from '../../ui/details.tsx'
import { Time, useLocale } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { shortAddress } from '../links/texts.ts'
import type { Customer, Journey } from './queries.ts'
import { countryName } from './texts.ts'

type Props = { customer: Customer; journey: Journey | undefined }

/** Who the customer is, under which ids, and who brought it. */
export function CustomerDetails({ customer, journey }: Props) {
  const { t } = useLingui()
  const locale = useLocale()
  const { timeZone } = useWorkspaceSettings()
  const { id, externalId, stripeCustomerId, email, country, link, partner, createdAt, subscriptionCanceledAt } =
    customer
  const rows: Detail[] = [
    ['email', <Trans key="n">E-mail</Trans>, email && <Id key="v" text={email} label={t`Copy the e-mail address`} />],
    [
      'externalId',
      <Trans key="n">External id</Trans>,
      externalId && <Id key="v" text={externalId} label={t`Copy the external id`} />,
    ],
    ['id', <Trans key="n">Customer id</Trans>, <Id key="v" text={id} label={t`Copy the customer id`} />],
    [
      'stripe',
      <Trans key="n">Stripe id</Trans>,
      stripeCustomerId && <Id key="v" text={stripeCustomerId} label={t`Copy the Stripe id`} />,
    ],
    ['country', <Trans key="n">Country</Trans>, countryName(country, locale)],
    ['link', <Trans key="n">Link</Trans>, link && <ToLink key="v" link={link} />],
    ['partner', <Trans key="n">Partner</Trans>, partner && <bdi key="v">{partner.name}</bdi>],
    [
      'first',
      <Trans key="n">First touch</Trans>,
      journey?.firstTouch && <TouchText key="v" touch={journey.firstTouch} />,
    ],
    ['last', <Trans key="n">Last touch</Trans>, journey?.lastTouch && <TouchText key="v" touch={journey.lastTouch} />],
    ['created', <Trans key="n">Created</Trans>, <Time key="v" at={createdAt} timeZone={timeZone} />],
    [
      'canceled',
      <Trans key="n">Canceled</Trans>,
      subscriptionCanceledAt && <Time key="v" at={subscriptionCanceledAt} timeZone={timeZone} />,
    ],
  ]
  return (
    <Panel className="p-4">
      <h2 className="mb-1">
        <Trans>Details</Trans>
      </h2>
      <Details rows={rows} />
    </Panel>
  )
}

function Id({ text, label }: { text: string; label: string }) {
  return (
    <span className="flex items-start gap-1">
      <bdi className="min-w-0 wrap-anywhere">{text}</bdi>
      <CopyButton text={text} label={label} className="-my-1" />
    </span>
  )
}

function ToLink({ link }: { link: NonNullable<Customer['link']> }) {
  return (
    <RouteLink
      from="/$workspace"
      to="/$workspace/links/$id"
      params={{ id: link.id }}
      className="underline hover:text-accent"
    >
      <bdi>{shortAddress(link)}</bdi>
    </RouteLink>
  )
}

/** When a click was, on which link, and where it came from. */
function TouchText({ touch: { click, link } }: { touch: NonNullable<Journey['firstTouch']> }) {
  const locale = useLocale()
  const { timeZone } = useWorkspaceSettings()
  const origin = [countryName(click.country, locale), isReferrer(click.referer) && click.referer].filter(Boolean)
  return (
    <>
      <Time at={click.timestamp} timeZone={timeZone} />
      {link && (
        <>
          {' · '}
          <bdi>{shortAddress(link)}</bdi>
        </>
      )}
      {origin.length > 0 && <bdi className="block text-xs text-muted">{origin.join(' · ')}</bdi>}
    </>
  )
}

/** Whether a click has a referrer; a visit without one is marked by a word in brackets. */
export function isReferrer(referer: string): boolean {
  return referer !== '' && !referer.startsWith('(')
}
