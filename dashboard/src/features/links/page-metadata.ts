import { useOperation } from '../../app/queries.ts'
import { usePaused } from '../../ui/paused.ts'
import { withScheme } from './builder-values.ts'

/** Title, description and picture of the page that an address leads to, asked while it is being typed. */
export function usePage(address: string) {
  const url = withScheme(usePaused(address, 500))
  const isPage = /^https?:$/.test(URL.parse(url)?.protocol ?? '') && url.includes('.') && url.length <= 2_000
  const { data: page } = useOperation('getMetatags', { query: { url } }, { enabled: isPage, staleTime: 600_000 })
  return { page: isPage ? page : undefined }
}
