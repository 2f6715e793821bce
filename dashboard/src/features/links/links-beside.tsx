import { Link as RouteLink } from '@tanstack/react-router'
import type { ReactNode } from 'react'

const paths = {
  links: '/$workspace/links',
  folders: '/$workspace/links/folders',
  tags: '/$workspace/links/tags',
  'utm-templates': '/$workspace/links/utm-templates',
} as const

type Props = { label: string; pages: readonly (readonly [page: keyof typeof paths, name: ReactNode])[] }

/** The pages that organize links, beside the current one. */
export function LinksBeside({ label, pages }: Props) {
  return (
    <nav aria-label={label} className="flex flex-wrap gap-3 text-sm text-muted">
      {pages.map(([page, name]) => (
        <RouteLink key={page} from="/$workspace" to={paths[page]} className="underline hover:text-ink max-md:py-3">
          {name}
        </RouteLink>
      ))}
    </nav>
  )
}
