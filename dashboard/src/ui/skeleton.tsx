/** A grey bar where text will be; only for the first load. */
/** Rows have bars that stand still: each that moves is a layer of its own. */
export function Skeleton({ isStatic, className = '' }: { isStatic?: boolean; className?: string }) {
  return (
    <span aria-hidden className={`block h-3 ${isStatic ? '' : 'animate-pulse'} rounded-sm bg-hover ${className}`} />
  )
}
