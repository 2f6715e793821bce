import { Trans, useLingui } from '@lingui/react/macro'
import type { OperatorStatus } from '@tributary/contract/operator'
import { useLocale } from '../../ui/figures.tsx'

/** The worst state of the installation, and the parts that have it. */
export function Summary({ status }: { status: OperatorStatus }) {
  const { t } = useLingui()
  const list = new Intl.ListFormat(useLocale())
  if (status.state === 'good') return <Trans>Everything works</Trans>
  const parts = [
    { name: t`Engines`, states: status.engines },
    { name: t`Processes`, states: status.roles },
    { name: t`Queues`, states: status.queues },
    { name: t`Losses and refusals`, states: status.problems },
    { name: t`Disks`, states: status.disks },
    { name: t`Backups`, states: [status.backups] },
    { name: t`Version and e-mail`, states: [status.version, status.mail] },
  ]
  const worst = parts.filter(({ states }) => states.some(({ state }) => state === status.state))
  const names = list.format(worst.map(({ name }) => name))
  return status.state === 'waiting' ? (
    <Trans>Works, with something to look at: {names}</Trans>
  ) : (
    <Trans>Something needs you now: {names}</Trans>
  )
}
