import type { ReactNode } from 'react'

const kinds = { harm: 'border-harm text-harm', plain: 'border-line-strong' }

type Props = { kind?: keyof typeof kinds; children: ReactNode; action?: ReactNode }

/** A sentence above a form or a list that needs attention, with at most one action. */
export function Notice({ kind = 'harm', children, action }: Props) {
  return (
    <div
      role={kind === 'harm' ? 'alert' : 'status'}
      className={`flex flex-wrap items-center gap-3 rounded-md border px-3 py-2 text-sm ${kinds[kind]}`}
    >
      <div className="min-w-40 flex-1 wrap-anywhere">{children}</div>
      {action}
    </div>
  )
}
