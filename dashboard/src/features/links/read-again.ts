import { useQueryClient } from '@tanstack/react-query'
import type { OperationId } from '@tributary/contract/client'
import { useWorkspace } from '../../app/workspace.ts'

/** Operations whose answers change with a link. */
const linkReads: readonly OperationId[] = [
  'getLinks',
  'getLinksCount',
  'getLinkInfo',
  'listDeletedLinks',
  'listLinkHistory',
]

/** Reads again what shows links. */
export function useReadLinksAgain(): () => Promise<void> {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  return async () => {
    await Promise.all(linkReads.map((name) => client.invalidateQueries({ queryKey: [slug, name] })))
  }
}
