import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useLocale } from '../../ui/figures.tsx'
import { formatBytes, formatNumber } from '../../ui/format.ts'
import { Panel } from '../../ui/page.tsx'
import { type Usage, type UsageNoun, usageNouns, usageState, usedPercent } from './usage.ts'

const names: Record<UsageNoun, MessageDescriptor> = {
  links: msg`Links`,
  domains: msg`Domains`,
  folders: msg`Folders`,
  tags: msg`Tags`,
  customers: msg`Customers`,
  partners: msg`Partners`,
  members: msg`Members and open invites`,
  keys: msg`Keys`,
  webhooks: msg`Webhooks`,
  webhookBytes: msg`Stored webhook events`,
}

/** Each kind of object with its number, its limit and how close the limit is. */
export function UsageTable({ usage }: { usage: Usage }) {
  const { t } = useLingui()
  const locale = useLocale()
  return (
    <Panel>
      <table aria-label={t`Limits`} className="w-full text-sm">
        <thead>
          <tr className="border-b text-left text-muted">
            <th scope="col" className="h-9 px-3.5 font-normal">
              <Trans>What</Trans>
            </th>
            <th scope="col" className="px-3.5 text-right font-normal">
              <Trans>Used</Trans>
            </th>
            <th scope="col" className="px-3.5 text-right font-normal">
              <Trans>Limit</Trans>
            </th>
            <th scope="col" className="w-1/3 px-3.5 font-normal max-sm:hidden">
              <Trans>Share</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {usageNouns.map((noun) => {
            const { used, limit } = usage[noun]
            const format = (value: number) =>
              noun === 'webhookBytes' ? formatBytes(value, locale) : formatNumber(value, locale)
            return (
              <tr key={noun} className="border-b last:border-b-0">
                <th scope="row" className="h-9 px-3.5 text-left font-normal">
                  {t(names[noun])}
                </th>
                <td className="px-3.5 text-right whitespace-nowrap">{format(used)}</td>
                <td className="px-3.5 text-right whitespace-nowrap text-muted">
                  {limit === null ? <Trans>none</Trans> : format(limit)}
                </td>
                <td className="px-3.5 max-sm:hidden">
                  <Share percent={usedPercent(usage[noun])} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Panel>
  )
}

const colors = { low: 'bg-accent', high: 'bg-sales', full: 'bg-harm' }

function Share({ percent }: { percent: number | undefined }) {
  const locale = useLocale()
  if (percent === undefined) return null
  const text = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(percent / 100)
  return (
    <span className="flex items-center gap-3">
      <span aria-hidden className="h-1.5 flex-1 overflow-hidden rounded-full bg-hover">
        <span className={`block h-full ${colors[usageState(percent)]}`} style={{ width: `${percent}%` }} />
      </span>
      <span className="w-12 text-right text-xs text-muted">{text}</span>
    </span>
  )
}
