import type { AnyRoute } from '@tanstack/react-router'
import { router } from './router.ts'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Starts to read what the page needs first. */
    readFirst?(workspace: string, search: object): void
  }
}

/** Starts to load the code of the page in the address, and what it reads first, while the workspaces are read. */
export function startFirstPage(): void {
  const routes: Record<string, AnyRoute> = router.routesById
  for (const { routeId, params, search } of router.matchRoutes(router.latestLocation)) {
    const { component, staticData } = routes[routeId]?.options ?? {}
    void component?.preload?.()?.catch(() => {})
    if (params.workspace) staticData?.readFirst?.(params.workspace, search)
  }
}
