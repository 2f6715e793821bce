import { Bookmark } from 'lucide-react'
import { Suspense } from 'react'
import { lazyPart } from '../../app/lazy-part.ts'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Popover, PopoverContent, PopoverTrigger } from '../../ui/popover.tsx'
import { useOpenView } from './use-open-view.ts'
import type { ViewsProps } from './view-query.ts'

const ViewsList = lazyPart(['views'], async () => (await import('./views-list.tsx')).ViewsList)

type Props = ViewsProps & {
  isOpen: boolean
  onToggle(isOpen: boolean): void
  keys: string
  /** The page's own texts, because those of views load with the list. */
  texts: { views: string; changed: string }
}

/** The saved views of a screen; the button has the name of the open one, and a dot when it was changed since. */
export function ViewsMenu({ isOpen, onToggle, keys, texts, ...views }: Props) {
  const { view: open, isChanged } = useOpenView(views)
  return (
    <Popover open={isOpen} onOpenChange={onToggle}>
      <PopoverTrigger asChild>
        <Button className="max-w-44">
          <Bookmark size={14} strokeWidth={1.75} aria-hidden className="shrink-0" />
          <bdi className="truncate">{open ? open.name : texts.views}</bdi>
          {isChanged && (
            <span className="size-1.5 shrink-0 rounded-full bg-accent">
              <span className="sr-only">{texts.changed}</span>
            </span>
          )}
          <Kbd>{keys}</Kbd>
        </Button>
      </PopoverTrigger>
      <PopoverContent align="end" aria-label={texts.views}>
        <Suspense fallback={<div className="h-24 w-72" aria-busy />}>
          <ViewsList {...views} />
        </Suspense>
      </PopoverContent>
    </Popover>
  )
}
