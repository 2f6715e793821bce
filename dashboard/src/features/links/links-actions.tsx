import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Popover, PopoverContent, PopoverTrigger } from '../../ui/popover.tsx'
import type { ViewQuery } from '../views/view-query.ts'
import { ViewsMenu } from '../views/views-menu.tsx'
import { openBuilder } from './builder-state.ts'
import type { ColumnName } from './columns.ts'
import type { ChangeSearch } from './filter-names.ts'
import { PeriodMenu } from './period-menu.tsx'
import { type LinksSearch, parseLinksSearch, viewQuery } from './search.ts'

const MoreMenu = lazy(async () => ({ default: (await import('./more-menu.tsx')).MoreMenu }))
const DisplayOptions = lazy(async () => ({ default: (await import('./display-options.tsx')).DisplayOptions }))

type Props = {
  search: LinksSearch
  change: ChangeSearch
  columns: { names: readonly ColumnName[]; isDefault: boolean }
  isDense: boolean
  canWrite: boolean
}

/** The period, the saved views, columns and density, and what else the page can do. */
export function PageActions({ search, change, columns, isDense, canWrite }: Props) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const navigate = useNavigate({ from: '/$workspace/links' })
  const [open, setOpen] = useState<'views' | 'display' | 'period'>()
  const toggle = (name: typeof open) => (isOpen: boolean) => setOpen(isOpen ? name : undefined)
  const period = search.period ?? '30d'
  const go = (next: LinksSearch) => void navigate({ search: next, resetScroll: false })
  const leaveView = () => go({ ...search, view: undefined })
  const hasViews = can('views.read')
  useCommands([
    { id: 'links.period', name: t`Choose the period`, keys: 'p', run: () => setOpen('period') },
    { id: 'links.display', name: t`Choose columns`, keys: 'o', run: () => setOpen('display') },
    ...(hasViews ? [{ id: 'links.views', name: t`Open a saved view`, keys: 's', run: () => setOpen('views') }] : []),
    {
      id: 'links.deleted',
      name: t`Recently deleted`,
      keys: 'g r',
      run: () => void navigate({ from: '/$workspace/links', to: '/$workspace/links/deleted' }),
    },
  ])
  const chosen: ViewQuery = columns.isDefault ? {} : { columns: columns.names.join() }
  return (
    <>
      {hasViews && (
        <ViewsMenu
          screen="links"
          keys="S"
          texts={{ views: t`Views`, changed: t`changed` }}
          isOpen={open === 'views'}
          onToggle={toggle('views')}
          query={{ ...chosen, ...viewQuery(search) }}
          viewId={search.view}
          onOpen={({ id, query }) => {
            setOpen(undefined)
            go({ ...parseLinksSearch(query), view: id })
          }}
          onLeave={leaveView}
        />
      )}
      <PeriodMenu
        period={period}
        isOpen={open === 'period'}
        onToggle={toggle('period')}
        onChange={(period) => change({ period: period === '30d' ? undefined : period })}
      />
      <Popover open={open === 'display'} onOpenChange={toggle('display')}>
        <PopoverTrigger asChild>
          <Button size="icon" aria-label={t`Columns and density`} title={`${t`Columns and density`} (O)`}>
            <SlidersHorizontal size={14} strokeWidth={1.75} aria-hidden />
          </Button>
        </PopoverTrigger>
        <PopoverContent align="end" aria-label={t`Columns and density`}>
          <Suspense fallback={<div className="h-80 w-56" aria-busy />}>
            <DisplayOptions
              names={columns.names}
              isDense={isDense}
              onColumns={
                search.columns === undefined ? undefined : (names) => change({ columns: names.join() || 'none' })
              }
            />
          </Suspense>
        </PopoverContent>
      </Popover>
      <Suspense fallback={<div className="size-8" />}>
        <MoreMenu search={search} />
      </Suspense>
      {canWrite && <CreateButton />}
    </>
  )
}

export function CreateButton() {
  return (
    <Button kind="first" onClick={() => openBuilder()}>
      <Trans>Create link</Trans>
      <Kbd>C</Kbd>
    </Button>
  )
}
