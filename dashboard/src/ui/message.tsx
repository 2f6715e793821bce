import type { ReactNode } from 'react'

type Props = {
  title: ReactNode
  children?: ReactNode
  action?: ReactNode
  role?: 'alert' | 'status'
  /** Whether the message is all there is, inside of the shell (`page`) or without one (`screen`). */
  scope?: 'part' | 'page' | 'screen'
}

/** A sentence in the middle of a page or a panel, with at most one next step: for empty, failed and missing pages. */
export function Message({ title, children, action, role, scope = 'part' }: Props) {
  const Heading = scope === 'part' ? 'h2' : 'h1'
  const message = (
    <section role={role} className="mx-auto flex max-w-120 flex-col items-center gap-3 px-4 py-16 text-center">
      <Heading className="text-base font-semibold">{title}</Heading>
      {children && <div className="flex flex-col gap-2 text-balance text-muted wrap-anywhere">{children}</div>}
      {action && <div className="mt-2 flex gap-2">{action}</div>}
    </section>
  )
  return scope === 'screen' ? <main className="pt-[10vh]">{message}</main> : message
}
