import { Trans, useLingui } from '@lingui/react/macro'
import { Funnel } from '../../charts/funnel.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatNumber } from '../../ui/format.ts'
import { type Counts, measureColor } from './measures.ts'
import { measureNames } from './names.ts'

/** How many of the clicks became leads, and of those sales. */
export function FunnelChart({ count }: { count: Counts }) {
  const { t, i18n } = useLingui()
  const locale = useLocale()
  const steps = (['clicks', 'leads', 'sales'] as const).map((measure) => ({
    id: measure,
    name: t(measureNames[measure]),
    value: count[measure],
    text: formatNumber(count[measure], locale),
    className: measureColor(measure),
  }))
  return (
    <Funnel
      steps={steps}
      description={t`From clicks to leads to sales`}
      formatShare={(share) => i18n.number(share, { style: 'percent', maximumFractionDigits: 1 })}
      columns={[
        <Trans key="step">Step</Trans>,
        <Trans key="count">Number</Trans>,
        <Trans key="share">Of the step before</Trans>,
        <Trans key="first">Of the clicks</Trans>,
      ]}
    />
  )
}
