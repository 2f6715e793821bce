import { useQuery } from '@tanstack/react-query'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import type { Share } from './share-values.ts'

const pageSize = 100

/** Every public page of the workspace, newest first. A change to one invalidates them as any `listShares`. */
export function useAllShares() {
  const { slug } = useWorkspace()
  return useQuery({
    queryKey: [slug, 'listShares', 'all'],
    queryFn: ({ signal }) => readAll(slug, signal),
  })
}

async function readAll(slug: string, signal: AbortSignal): Promise<Share[]> {
  const shares: Share[] = []
  for (let page = 1; ; page += 1) {
    const read = await call('listShares', { query: { page, pageSize }, signal }, slug)
    shares.push(...read)
    if (read.length < pageSize) return shares
  }
}
