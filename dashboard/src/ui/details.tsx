import type { ReactNode } from 'react'

/** Id, name and value of a detail. */
export type Detail = [string, ReactNode, ReactNode]

/** Names with their values; those without a value are left out. */
export function Details({ rows }: { rows: readonly Detail[] }) {
  return (
    <dl className="flex flex-col text-sm">
      {rows
        .filter(([, , value]) => value)
        .map(([id, name, value]) => (
          <div key={id} className="grid grid-cols-[112px_minmax(0,1fr)] gap-3 border-b py-1.5 last:border-b-0">
            <dt className="text-muted">{name}</dt>
            <dd dir="auto" className="max-h-40 overflow-y-auto wrap-anywhere">
              {value}
            </dd>
          </div>
        ))}
    </dl>
  )
}
