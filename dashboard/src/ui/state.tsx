import type { ReactNode } from 'react'

const colors = { good: 'bg-good', waiting: 'bg-sales', harm: 'bg-harm', none: 'bg-line-strong' }
export type StateKind = keyof typeof colors

/** A word for the state of a thing, with a dot of its colour. */
export function State({ kind, children }: { kind: StateKind; children: ReactNode }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-2 whitespace-nowrap">
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${colors[kind]}`} />
      <span className="truncate">{children}</span>
    </span>
  )
}
