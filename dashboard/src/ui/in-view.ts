import { type RefCallback, useCallback, useState } from 'react'

/** Less of an element than this is its heading. */
const rootMargin = '0px 0px -64px'

/** Whether an element is on the screen, with more than its heading. */
export function useInView(): [RefCallback<HTMLElement>, boolean] {
  const [isInView, setInView] = useState(false)
  const watch = useCallback((element: HTMLElement | null) => {
    if (!element) return
    const observer = new IntersectionObserver(([entry]) => setInView(entry?.isIntersecting ?? false), { rootMargin })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [watch, isInView]
}
