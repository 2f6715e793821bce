import { useEffect } from 'react'

let scrims = 0

/**
 * What darkens the page under an overlay and keeps it from scrolling. It replaces that of Radix, which adds a style sheet and
 * takes the pointer from every element: for each of them browsers compute the style of the whole page again.
 */
export function Scrim({ className }: { className: 'z-40' | 'z-50' }) {
  useEffect(() => {
    scrims += 1
    const { dataset, clientWidth } = document.documentElement
    if (scrims === 1) dataset.scrim = innerWidth > clientWidth ? 'scrollbar' : 'no-scrollbar'
    return () => {
      scrims -= 1
      if (scrims === 0) delete dataset.scrim
    }
  }, [])
  return <div className={`pointer-events-auto fixed inset-0 bg-scrim ${className}`} />
}
