import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Count, Money, Time, useLocale } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import type { Customer, Journey } from './queries.ts'
import { formatDuration } from './texts.ts'

type Props = { customer: Customer; journey: Journey | undefined }

/** What the customer is worth, and how long the first sale took. */
export function CustomerFigures({ customer, journey }: Props) {
  const { currency, timeZone } = useWorkspaceSettings()
  const locale = useLocale()
  const { saleAmount, sales, firstSaleAt, createdAt } = customer
  const start = journey?.firstTouch?.click.timestamp ?? createdAt
  const figures: [string, ReactNode, ReactNode][] = [
    ['value', <Trans key="n">Value</Trans>, <Money key="v" amount={saleAmount} currency={currency} />],
    ['sales', <Trans key="n">Sales</Trans>, <Count key="v" value={sales} />],
    [
      'first',
      <Trans key="n">Time to first sale</Trans>,
      firstSaleAt && journey ? formatDuration(Date.parse(firstSaleAt) - Date.parse(start), locale) : <None key="v" />,
    ],
    [
      'at',
      <Trans key="n">First sale</Trans>,
      firstSaleAt ? <Time key="v" at={firstSaleAt} timeZone={timeZone} /> : <None key="v" />,
    ],
  ]
  return (
    <Panel className="p-4">
      <dl className="grid grid-cols-4 gap-4 max-md:grid-cols-2">
        {figures.map(([id, name, value]) => (
          <div key={id} className="min-w-0">
            <dt className="text-sm text-muted">{name}</dt>
            <dd className="text-lg">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}

function None() {
  return <span className="text-faint">–</span>
}
