import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'

type Props = { title: ReactNode; actions?: ReactNode; children: ReactNode }

/** A page: its title, which the browser's tab shows too, its actions on the right, and what it shows. */
export function Page({ title, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${heading.current?.textContent} · Tributary`
  })
  return (
    <div className="px-3.5 pt-3.5 pb-10 md:px-7 md:pt-5">
      <header className="mb-3.5 flex flex-wrap items-center gap-2">
        <h1 ref={heading} className="mr-auto min-w-0 truncate">
          {title}
        </h1>
        {actions}
      </header>
      {children}
    </div>
  )
}

/** A bordered area of a page. */
export function Panel({ children, className = '', ...rest }: ComponentProps<'section'>) {
  return (
    <section {...rest} className={`rounded-lg border bg-surface ${className}`}>
      {children}
    </section>
  )
}
