import { Trans } from '@lingui/react/macro'
import type { OperatorStatus } from '@tributary/contract/operator'
import { useLocale } from '../../ui/figures.tsx'
import { CheckGroup, CheckRow } from './check-row.tsx'

type Disk = OperatorStatus['disks'][number]

export function DisksPart({ disks }: Pick<OperatorStatus, 'disks'>) {
  const locale = useLocale()
  const percent = new Intl.NumberFormat(locale, { style: 'percent' })
  if (disks.length === 0) return null
  return (
    <CheckGroup title={<Trans>Disks</Trans>}>
      {disks.map((disk) => (
        <CheckRow
          key={disk.name}
          state={disk.state}
          name={<DiskName name={disk.name} />}
          value={<Trans>{percent.format(disk.freeRatio)} free</Trans>}
        >
          {disk.state !== 'good' && (
            <p>
              <DiskAdvice name={disk.name} />
            </p>
          )}
        </CheckRow>
      ))}
    </CheckGroup>
  )
}

function DiskName({ name }: Pick<Disk, 'name'>) {
  if (name === 'log') return <Trans>Event log in NATS</Trans>
  if (name === 'spool') return <Trans>Spool of the redirects</Trans>
  return <>ClickHouse</>
}

function DiskAdvice({ name }: Pick<Disk, 'name'>) {
  if (name === 'log')
    return (
      <Trans>
        The event log is almost full. When it is, clicks wait in the spool. Let the worker catch up, or raise
        EVENT_LOG_MAX_MEGABYTES.
      </Trans>
    )
  if (name === 'spool')
    return <Trans>Clicks that NATS does not take are stored here. Free some room, or use another disk.</Trans>
  return (
    <Trans>Without room, ClickHouse stores no more events. Add a larger disk, or shorten the history of plans.</Trans>
  )
}
