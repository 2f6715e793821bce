import { useEffect, useState } from 'react'
import { readSearch, type SharedSearch, writeSearch } from './shared-search.ts'

/** What the visitor chose, in the address, so that a reload and the back button show it again. */
export function useSharedSearch(): [SharedSearch, (next: SharedSearch) => void] {
  const [search, setSearch] = useState(() => readSearch(location.search))
  useEffect(() => {
    const read = () => setSearch(readSearch(location.search))
    addEventListener('popstate', read)
    return () => removeEventListener('popstate', read)
  }, [])
  const change = (next: SharedSearch) => {
    history.pushState(null, '', location.pathname + writeSearch(next))
    setSearch(next)
  }
  return [search, change]
}
