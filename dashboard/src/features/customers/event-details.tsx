import { Trans, useLingui } from '@lingui/react/macro'
import { CodeBlock } from '../../ui/code-block.tsx'
import { type Detail, Details } from '../../ui/details.tsx'
import { Money, useLocale } from '../../ui/figures.tsx'
import { formatExactTime } from '../../ui/format.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { attributionNames } from './attribution-names.ts'
import type { JourneyEvent } from './queries.ts'

type Click = Extract<JourneyEvent, { event: 'click' }>
type Conversion = Exclude<JourneyEvent, Click>

/** What is known of an event besides its summary. */
export function EventDetails({ event }: { event: JourneyEvent }) {
  return event.event === 'click' ? <ClickDetails event={event} /> : <ConversionDetails event={event} />
}

function ClickDetails({ event: { click } }: { event: Click }) {
  const exactTime = useExactTime()
  const location = [click.city, click.region].filter((text) => text && text !== 'Unknown').join(', ')
  const rows: Detail[] = [
    ['time', <Trans key="n">Time</Trans>, exactTime(click.timestamp)],
    ['url', <Trans key="n">Destination</Trans>, click.url],
    ['referrer', <Trans key="n">Referrer</Trans>, click.refererUrl],
    ['city', <Trans key="n">City</Trans>, location],
    ['browser', <Trans key="n">Browser</Trans>, [click.browser, click.os].filter(Boolean).join(' · ')],
    ['id', <Trans key="n">Click id</Trans>, click.id],
  ]
  return <Details rows={rows} />
}

function ConversionDetails({ event }: { event: Conversion }) {
  const { t } = useLingui()
  const exactTime = useExactTime()
  const attribution = attributionNames[event.attribution]
  const isConverted = 'amount' in event && event.originalCurrency && event.originalCurrency !== event.currency
  const rows: Detail[] = [
    ['time', <Trans key="n">Time</Trans>, exactTime(event.timestamp)],
    ['attribution', <Trans key="n">Attribution</Trans>, attribution ? t(attribution) : event.attribution],
    ...('amount' in event ? paymentRows(event, Boolean(isConverted)) : []),
    ...(event.commissions ?? []).map(
      ({ id, earnings, currency, status }): Detail => [
        id,
        <Trans key="n">Commission</Trans>,
        <span key="v">
          <Money amount={earnings} currency={currency} /> · {status}
        </span>,
      ],
    ),
    ['click', <Trans key="n">Click id</Trans>, event.clickId],
    ['id', <Trans key="n">Event id</Trans>, event.id],
  ]
  return (
    <>
      <Details rows={rows} />
      {event.metadata && <CodeBlock code={JSON.stringify(event.metadata, null, 2)} label={t`Metadata`} />}
    </>
  )
}

function useExactTime(): (at: string) => string {
  const { timeZone } = useWorkspaceSettings()
  const locale = useLocale()
  return (at) => formatExactTime(at, locale, timeZone)
}

function paymentRows(event: Extract<Conversion, { amount: number }>, isConverted: boolean): Detail[] {
  return [
    ['invoice', <Trans key="n">Invoice</Trans>, event.invoiceId],
    ['refund', <Trans key="n">Refund id</Trans>, event.event === 'refund' && event.refundId],
    ['processor', <Trans key="n">Payment processor</Trans>, event.paymentProcessor],
    [
      'original',
      <Trans key="n">As reported</Trans>,
      isConverted && <Money key="v" amount={event.originalAmount ?? 0} currency={event.originalCurrency ?? ''} />,
    ],
  ]
}
