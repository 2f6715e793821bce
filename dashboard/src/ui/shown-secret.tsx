import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'
import { Notice } from './notice.tsx'

type Props = { value: string; copyLabel: string; children: ReactNode }

/** A key or a secret, which only this moment shows; `children` says what to do with it. */
export function ShownSecret({ value, copyLabel, children }: Props) {
  return (
    <div className="flex flex-col gap-3">
      <Notice kind="plain">{children}</Notice>
      <p className="flex items-center gap-1 rounded-md border bg-canvas py-1 pr-1 pl-2.5">
        <code data-key className="min-w-0 flex-1 font-mono text-xs wrap-anywhere select-all">
          {value}
        </code>
        <CopyButton text={value} label={copyLabel} />
      </p>
    </div>
  )
}
