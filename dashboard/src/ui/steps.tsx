import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Button } from './button.tsx'

type Props = { onPrevious?(): void; onNext?(): void; labels: { previous: string; next: string } }

/** Two buttons that step through a list from within a drawer; the arrow keys ← and → do the same. */
export function Steps({ onPrevious, onNext, labels }: Props) {
  useArrowKeys(onPrevious, onNext)
  return (
    <span className="flex">
      <Button
        kind="quiet"
        size="icon"
        disabled={!onPrevious}
        aria-label={labels.previous}
        title={`${labels.previous} (←)`}
        aria-keyshortcuts="ArrowLeft"
        onClick={onPrevious}
      >
        <ChevronLeft size={16} aria-hidden />
      </Button>
      <Button
        kind="quiet"
        size="icon"
        disabled={!onNext}
        aria-label={labels.next}
        title={`${labels.next} (→)`}
        aria-keyshortcuts="ArrowRight"
        onClick={onNext}
      >
        <ChevronRight size={16} aria-hidden />
      </Button>
    </span>
  )
}

function useArrowKeys(onPrevious: (() => void) | undefined, onNext: (() => void) | undefined): void {
  const latest = useRef<Record<string, (() => void) | undefined>>({})
  latest.current = { ArrowLeft: onPrevious, ArrowRight: onNext }
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { target, key } = event
      const isTaken = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented
      if (isTaken || (target instanceof Element && target.closest('input, textarea, select, [role=tablist]'))) return
      latest.current[key]?.()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
}
