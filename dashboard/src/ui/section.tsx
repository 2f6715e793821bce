import type { ReactNode } from 'react'

type Props = { title: ReactNode; description?: ReactNode; actions?: ReactNode; children: ReactNode }

/** A part of a page under its own heading, with its actions on the right. */
export function Section({ title, description, actions, children }: Props) {
  return (
    <section className="mb-8 flex flex-col gap-3 last:mb-0">
      <header className="flex flex-wrap items-end gap-x-3 gap-y-2">
        <div className="mr-auto max-w-180 min-w-0">
          <h2 className="text-base">{title}</h2>
          {description && <p className="text-sm text-muted">{description}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  )
}
