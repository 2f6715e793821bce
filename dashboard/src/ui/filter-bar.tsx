import { Trans, useLingui } from '@lingui/react/macro'
import { ListFilter, X } from 'lucide-react'
import { lazy, type ReactNode, Suspense } from 'react'
import { Button } from './button.tsx'
import type { Filter } from './filter.ts'
import { Kbd } from './kbd.tsx'
import { Popover, PopoverContent, PopoverTrigger } from './popover.tsx'

// Nothing is chosen from when a page opens.
const FilterChoice = lazy(async () => ({ default: (await import('./filter-choice.tsx')).FilterChoice }))

type Props = {
  filters: readonly Filter[]
  children?: ReactNode
  /** A line after the filters, such as how much matches. */
  summary?: ReactNode
  /** The filter whose options are open, or the list of filters. */
  open: string | undefined
  onOpen(open: string | undefined): void
}

export const filterList = 'list'

/** The filters that are set, each removable where it stands, and a button for the others. */
export function FilterBar({ filters, children, summary, open, onOpen }: Props) {
  const { t } = useLingui()
  const isSet = ({ chosen }: Filter) => chosen.length > 0
  const close = () => onOpen(undefined)
  return (
    <div className="mb-3 flex flex-wrap items-center gap-1.5">
      {children}
      {filters.filter(isSet).map((filter) => (
        <Chip
          key={filter.id}
          filter={filter}
          isOpen={open === filter.id}
          onOpen={(isOpen) => onOpen(isOpen ? filter.id : undefined)}
        />
      ))}
      <Popover open={open === filterList} onOpenChange={(isOpen) => onOpen(isOpen ? filterList : undefined)}>
        <PopoverTrigger asChild>
          <Button className="border-dashed font-normal">
            <ListFilter size={14} strokeWidth={1.75} aria-hidden />
            <Trans>Filter</Trans>
            <Kbd>F</Kbd>
          </Button>
        </PopoverTrigger>
        <PopoverContent aria-label={t`Filter by`}>
          <Suspense fallback={<OptionsLoading />}>
            <FilterChoice filters={filters} onDone={close} />
          </Suspense>
        </PopoverContent>
      </Popover>
      <p role="status" className="ml-1.5 text-sm text-muted">
        {summary}
      </p>
    </div>
  )
}

function Chip({ filter, isOpen, onOpen }: { filter: Filter; isOpen: boolean; onOpen(isOpen: boolean): void }) {
  const { t } = useLingui()
  const [first = '', ...others] = filter.chosen
  return (
    <div className="flex h-8 max-w-full items-stretch overflow-hidden rounded-md border border-line-strong bg-surface text-sm max-md:h-11">
      <span className="flex items-center border-r px-2 text-muted max-sm:hidden">{filter.name}</span>
      <Popover open={isOpen} onOpenChange={onOpen}>
        <PopoverTrigger className="flex min-w-0 items-center gap-1 px-2 hover:bg-hover focus-visible:bg-hover">
          <span className="sr-only">{filter.name}</span>
          {filter.operator && <span className="text-muted">{filter.operator}</span>}
          <bdi className="max-w-44 truncate">{first}</bdi>
          {others.length > 0 && <span className="text-muted">+{others.length}</span>}
        </PopoverTrigger>
        <PopoverContent aria-label={filter.name}>
          <Suspense fallback={<OptionsLoading />}>{filter.content(() => onOpen(false))}</Suspense>
        </PopoverContent>
      </Popover>
      <button
        type="button"
        aria-label={t`Remove filter: ${filter.name}`}
        onClick={filter.clear}
        className="grid w-7 place-items-center border-l text-muted hover:bg-hover hover:text-ink max-md:w-11"
      >
        <X size={14} aria-hidden />
      </button>
    </div>
  )
}

function OptionsLoading() {
  return <div className="h-44 w-64" aria-busy />
}
