/** A grey bar where text will be; only for the first load. */
export function Skeleton({ className = '' }: { className?: string }) {
  return <span aria-hidden className={`block h-3 animate-pulse rounded-sm bg-hover ${className}`} />
}
