import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight, Download } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { lazyPart } from '../../app/lazy-part.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { ShareDialog } from '../shares/share-dialog.tsx'
import { useOpenView } from '../views/use-open-view.ts'
import type { View } from '../views/view-query.ts'
import { ViewsMenu } from '../views/views-menu.tsx'
import { type AnalyticsSearch, type ChangeAnalytics, parseAnalyticsSearch, viewQuery } from './analytics-search.ts'
import { CompareMenu } from './compare-menu.tsx'
import { PeriodMenu } from './period-menu.tsx'
import { defaultPeriod, type Moment, parsePeriod, stepPeriod } from './periods.ts'
import { useValueText } from './value-text.ts'

const SaveBeforeSharing = lazyPart(
  ['views'],
  async () => (await import('../views/save-before-sharing.tsx')).SaveBeforeSharing,
)

type Props = { search: AnalyticsSearch; change: ChangeAnalytics; moment: Moment }

/** Saved views, the period with its steps, the comparison, and the export. */
export function AnalyticsActions({ search, change, moment }: Props) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const navigate = useNavigate({ from: '/$workspace/analytics' })
  const [open, setOpen] = useState<'views' | 'share' | 'shareSaved' | 'period' | 'compare'>()
  const toggle = (name: typeof open) => (isOpen: boolean) => setOpen(isOpen ? name : undefined)
  const go = (next: AnalyticsSearch) => void navigate({ search: next, resetScroll: false })
  const hasViews = can('views.read')
  const canShare = hasViews && can('views.write')
  const shown = { screen: 'analytics', query: viewQuery(search), viewId: search.view } as const
  const { view, isChanged } = useOpenView(shown)
  // A public page shows a saved view, and none of the changes to it.
  const mustSave = open === 'share' && (!search.view || isChanged)
  const share = () => setOpen('share')
  const openView = ({ id, query }: View) => go({ ...parseAnalyticsSearch(query), view: id })
  const save = useExport(search, moment)
  const step = (by: -1 | 1) => stepPeriod(search.period ?? defaultPeriod, by, moment)
  const move = (by: -1 | 1) => {
    const next = step(by)
    if (next) change({ period: parsePeriod(next) })
  }
  const compare = () => change({ compare: search.compare ? undefined : 'previous', order: undefined })
  useCommands([
    { id: 'analytics.period', name: t`Choose the period`, keys: 'p', run: () => setOpen('period') },
    { id: 'analytics.before', name: t`Period before`, keys: 'ArrowLeft', run: () => move(-1) },
    { id: 'analytics.after', name: t`Period after`, keys: 'ArrowRight', run: () => move(1) },
    { id: 'analytics.compare', name: t`Compare with the period before`, keys: 'v', run: compare },
    { id: 'analytics.export', name: t`Export figures as CSV`, run: () => void save() },
    ...(hasViews
      ? [{ id: 'analytics.views', name: t`Open a saved view`, keys: 's', run: () => setOpen('views') }]
      : []),
    ...(canShare ? [{ id: 'analytics.share', name: t`Share a saved view with others`, run: share }] : []),
  ])
  return (
    <>
      {hasViews && (
        <ViewsMenu
          {...shown}
          keys="S"
          texts={{ views: t`Views`, changed: t`changed` }}
          isOpen={open === 'views'}
          onToggle={toggle('views')}
          onOpen={(view) => {
            setOpen(undefined)
            openView(view)
          }}
          onLeave={() => go({ ...search, view: undefined })}
        />
      )}
      {canShare && (
        <>
          <Button onClick={share} title={t`Share a saved view with others`}>
            <Trans>Share view</Trans>
          </Button>
          <Suspense>
            {mustSave && (
              <SaveBeforeSharing
                {...shown}
                view={isChanged ? view : undefined}
                onSaved={openView}
                onSkip={() => setOpen('shareSaved')}
                onClose={() => setOpen(undefined)}
              />
            )}
          </Suspense>
          {search.view && (
            <ShareDialog
              subject={{ viewId: search.view }}
              isOpen={!mustSave && (open === 'share' || open === 'shareSaved')}
              onClose={() => setOpen(undefined)}
            />
          )}
        </>
      )}
      <CompareMenu search={search} change={change} isOpen={open === 'compare'} onToggle={toggle('compare')} />
      <div className="flex">
        <StepButton label={t`Period before`} isDisabled={!step(-1)} onClick={() => move(-1)}>
          <ChevronLeft size={16} aria-hidden />
        </StepButton>
        <PeriodMenu
          period={search.period}
          moment={moment}
          isOpen={open === 'period'}
          onToggle={toggle('period')}
          onChange={(period) => change({ period })}
        />
        <StepButton label={t`Period after`} isDisabled={!step(1)} onClick={() => move(1)}>
          <ChevronRight size={16} aria-hidden />
        </StepButton>
      </div>
      <Button
        size="icon"
        aria-label={t`Export figures as CSV`}
        title={t`Export figures as CSV`}
        onClick={() => void save()}
      >
        <Download size={14} strokeWidth={1.75} aria-hidden />
      </Button>
    </>
  )
}

type StepProps = { label: string; isDisabled: boolean; onClick(): void; children: ReactNode }

function StepButton({ label, isDisabled, onClick, children }: StepProps) {
  return (
    <Button kind="quiet" size="icon" aria-label={label} title={label} disabled={isDisabled} onClick={onClick}>
      {children}
    </Button>
  )
}

function useExport(search: AnalyticsSearch, moment: Moment) {
  const { t } = useLingui()
  const { slug, can } = useWorkspace()
  const text = useValueText()
  return async () => {
    try {
      const { exportPage } = await import('./export.ts')
      const count = await exportPage(search, moment, { workspace: slug, text, hasPartners: can('partners.read') })
      toast({ title: t`Exported ${plural(count, { one: '# row', other: '# rows' })}` })
    } catch (error) {
      toastError(error)
    }
  }
}
