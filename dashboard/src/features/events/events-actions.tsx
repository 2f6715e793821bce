import { Trans, useLingui } from '@lingui/react/macro'
import { Download, SlidersHorizontal } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../ui/menu.tsx'
import { Popover, PopoverContent, PopoverTrigger } from '../../ui/popover.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { PeriodMenu } from '../analytics/period-menu.tsx'
import type { Moment } from '../analytics/periods.ts'
import type { ColumnName } from './columns.ts'
import type { ExportFormat } from './export-events.ts'
import { type ChangeEvents, type EventsSearch, listQuery } from './search.ts'

const DisplayOptions = lazy(async () => ({ default: (await import('./display-options.tsx')).DisplayOptions }))

type Props = {
  search: EventsSearch
  change: ChangeEvents
  moment: Moment
  names: readonly ColumnName[]
  isDense: boolean
}

/** The period, columns and density, and the export. */
export function EventsActions({ search, change, moment, names, isDense }: Props) {
  const { t } = useLingui()
  const [open, setOpen] = useState<'period' | 'display'>()
  const toggle = (name: typeof open) => (isOpen: boolean) => setOpen(isOpen ? name : undefined)
  const save = useExport(search, moment)
  useCommands([
    { id: 'events.period', name: t`Choose the period`, keys: 'p', run: () => setOpen('period') },
    { id: 'events.display', name: t`Choose columns`, keys: 'o', run: () => setOpen('display') },
    { id: 'events.csv', name: t`Export events as CSV`, run: () => void save('csv') },
  ])
  return (
    <>
      <PeriodMenu
        period={search.period}
        moment={moment}
        isOpen={open === 'period'}
        onToggle={toggle('period')}
        onChange={(period) => change({ period })}
      />
      <Popover open={open === 'display'} onOpenChange={toggle('display')}>
        <PopoverTrigger asChild>
          <Button size="icon" aria-label={t`Columns and density`} title={`${t`Columns and density`} (O)`}>
            <SlidersHorizontal size={14} strokeWidth={1.75} aria-hidden />
          </Button>
        </PopoverTrigger>
        <PopoverContent align="end" aria-label={t`Columns and density`}>
          <Suspense fallback={<div className="h-80 w-56" aria-busy />}>
            <DisplayOptions kind={search.event ?? 'clicks'} names={names} isDense={isDense} />
          </Suspense>
        </PopoverContent>
      </Popover>
      <Menu>
        <MenuTrigger asChild>
          <Button size="icon" aria-label={t`Export events`} title={t`Export events`}>
            <Download size={14} strokeWidth={1.75} aria-hidden />
          </Button>
        </MenuTrigger>
        <MenuContent align="end">
          <MenuItem onSelect={() => void save('csv')}>
            <Trans>Export as CSV</Trans>
          </MenuItem>
          <MenuItem onSelect={() => void save('ndjson')}>
            <Trans>Export as NDJSON</Trans>
          </MenuItem>
        </MenuContent>
      </Menu>
    </>
  )
}

/** Exports what the page shows: its kind, filters and period, with all columns. */
function useExport(search: EventsSearch, moment: Moment) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  return async (format: ExportFormat) => {
    try {
      const { exportEvents } = await import('./export-events.ts')
      toast({ title: t`Preparing the export` })
      await exportEvents(slug, listQuery(search, moment), format)
      toast({ title: t`The export is complete` })
    } catch (error) {
      toastError(error)
    }
  }
}
