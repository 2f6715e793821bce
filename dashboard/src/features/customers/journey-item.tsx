import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { Money, Time, useLocale } from '../../ui/figures.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { shortAddress } from '../links/texts.ts'
import { isReferrer } from './customer-details.tsx'
import { EventDetails } from './event-details.tsx'
import type { JourneyEvent } from './queries.ts'
import { countryName } from './texts.ts'

const dots = { click: 'bg-clicks', lead: 'bg-leads', sale: 'bg-sales', refund: 'bg-harm' }

/** An event of the timeline; a button opens what else is known of it. */
export function JourneyItem({ event }: { event: JourneyEvent }) {
  const { timeZone } = useWorkspaceSettings()
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <li className="group/item relative flex gap-3 pb-1">
      <span aria-hidden className="absolute top-6 bottom-[-12px] left-[4.5px] w-px bg-line group-last/item:hidden" />
      <span aria-hidden className={`mt-[13px] size-2.5 shrink-0 rounded-full ${dots[event.event]}`} />
      <div className="min-w-0 flex-1 border-b py-2 group-last/item:border-b-0">
        <div className="flex items-start gap-3">
          <div className="min-w-0 flex-1">
            <Summary event={event} />
          </div>
          <span className="shrink-0 pt-0.5 text-xs text-muted">
            <Time at={event.timestamp} timeZone={timeZone} />
          </span>
        </div>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
          className="mt-0.5 -ml-1 inline-flex items-center gap-1 rounded-sm px-1 text-xs text-muted hover:text-ink max-md:min-h-11"
        >
          <ChevronRight size={12} aria-hidden className={isOpen ? 'rotate-90' : ''} />
          <Trans>Details</Trans>
        </button>
        <div id={id} hidden={!isOpen}>
          {isOpen && <EventDetails event={event} />}
        </div>
      </div>
    </li>
  )
}

function Summary({ event }: { event: JourneyEvent }) {
  if (event.event === 'click') return <ClickSummary event={event} />
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <Kind event={event} />
        <bdi className="min-w-0 font-medium wrap-anywhere">{event.eventName}</bdi>
        {'amount' in event && (
          <span className={`tabular-nums ${event.event === 'refund' ? 'text-harm' : ''}`}>
            <Money amount={event.amount} currency={event.currency} />
          </span>
        )}
        {event.event === 'lead' && event.quantity > 1 && <span>× {event.quantity}</span>}
      </p>
      <Facts
        parts={[
          'saleAmount' in event && (
            <Trans key="value">
              Value <Money amount={event.saleAmount} currency={event.currency} />
            </Trans>
          ),
          event.link && <ToLink key="link" link={event.link} className="text-muted" />,
          event.partner && <bdi key="partner">{event.partner.name}</bdi>,
          event.commissions?.length ? (
            <Plural key="commissions" value={event.commissions.length} one="# commission" other="# commissions" />
          ) : undefined,
        ]}
      />
    </>
  )
}

function ClickSummary({ event }: { event: Extract<JourneyEvent, { event: 'click' }> }) {
  const locale = useLocale()
  const { click, link } = event
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <Kind event={event} />
        {link && <ToLink link={link} className="text-ink" />}
      </p>
      <Facts
        parts={[
          countryName(click.country, locale),
          isReferrer(click.referer) && <bdi key="referer">{click.referer}</bdi>,
          click.qr && <Trans key="qr">QR code</Trans>,
          isKnown(click.device) && <bdi key="device">{click.device}</bdi>,
        ]}
      />
    </>
  )
}

function Kind({ event: { event } }: { event: JourneyEvent }) {
  const { t } = useLingui()
  const names = { click: t`Click`, lead: t`Lead`, sale: t`Sale`, refund: t`Refund` }
  return <span className="text-muted">{names[event]}</span>
}

type ToLinkProps = { link: { id: string; domain: string; key: string }; className: string }

function ToLink({ link, className }: ToLinkProps) {
  return (
    <RouteLink
      from="/$workspace"
      to="/$workspace/links/$id"
      params={{ id: link.id }}
      className={`min-w-0 wrap-anywhere underline hover:text-accent ${className}`}
    >
      <bdi>{shortAddress(link)}</bdi>
    </RouteLink>
  )
}

function Facts({ parts }: { parts: ReactNode[] }) {
  const shown = parts.filter(Boolean)
  if (shown.length === 0) return null
  return (
    <p className="flex flex-wrap gap-x-2 text-xs text-muted wrap-anywhere">
      {shown.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
        <span key={index}>{part}</span>
      ))}
    </p>
  )
}

function isKnown(value: string): boolean {
  return value !== '' && value !== 'Unknown'
}
