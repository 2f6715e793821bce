import { lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { loadMessages } from './languages.ts'

/** A page that loads when it is first opened, with the messages of its feature and of others whose parts it shows. */
export function lazyPage<Module extends Record<Name, ComponentType>, Name extends keyof Module & string>(
  features: string | readonly string[],
  load: () => Promise<Module>,
  name: Name,
) {
  const loadAll = async () => {
    const [module] = await Promise.all([load(), ...[features].flat().map(loadMessages)])
    return module
  }
  return lazyRouteComponent(loadAll, name)
}

/** The search of an address for a page that parses it when it loads, so that the first load of others has no parser. */
export function unparsed<Search>(given: Record<string, unknown>): Search {
  return given as Search
}
