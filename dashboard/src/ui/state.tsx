import type { ReactNode } from 'react'

const colors = { good: 'bg-good', waiting: 'bg-sales', harm: 'bg-harm', none: 'bg-line-strong' }
export type StateKind = keyof typeof colors

type Props = { kind: StateKind; children: ReactNode; isSentence?: boolean }

/** A word for the state of a thing, or a sentence, with a dot of its colour. */
export function State({ kind, children, isSentence }: Props) {
  return (
    <span className={`inline-flex min-w-0 gap-2 ${isSentence ? 'items-baseline' : 'items-center whitespace-nowrap'}`}>
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${colors[kind]}`} />
      <span className={isSentence ? '' : 'truncate'}>{children}</span>
    </span>
  )
}
