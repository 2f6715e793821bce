import { useQueryClient } from '@tanstack/react-query'
import type { EffectiveQrDesign, QrDesign } from '@tributary/contract/qr-designs'
import { call } from '../../app/call.ts'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import type { DesignTarget } from './designer-state.ts'

export type ScopeId = 'link' | 'domain' | 'workspace'

/** What a design is stored for, and what applies there now. */
export type Scope = {
  id: ScopeId
  design: QrDesign | undefined
  source: EffectiveQrDesign['source'] | undefined
  error: Error | null
  retry(): void
  /** Stores a design, or removes it if there is none, so that the inherited one applies. */
  store(design: QrDesign | undefined): Promise<void>
}

/** The link, its domain and the workspace, as far as the person may change their designs. */
export function useScopes({ linkId = '', domain, draft, onUse }: DesignTarget): Scope[] {
  const { slug, can } = useWorkspace()
  const client = useQueryClient()
  const forLink = useOperation('getLinkQrDesign', { params: { linkId } }, { enabled: linkId !== '' })
  const forDomain = useOperation(
    'getDomainQrDesign',
    { params: { slug: domain } },
    { enabled: domain !== '' && can('domains.read') },
  )
  const forWorkspace = useOperation('getWorkspaceQrDesign', { params: { idOrSlug: slug } })
  const readAgain = () =>
    Promise.all(
      (['getLinkQrDesign', 'getDomainQrDesign', 'getWorkspaceQrDesign'] as const).map((name) =>
        client.invalidateQueries({ queryKey: [slug, name] }),
      ),
    )
  const stored = (write: (body: QrDesign | undefined) => Promise<unknown>) => async (body: QrDesign | undefined) => {
    await write(body)
    await readAgain()
  }
  // A new link will have its domain's design, unless it gets its own.
  const inherited = domain ? forDomain : forWorkspace
  const link: Scope = linkId
    ? {
        id: 'link',
        ...readable(forLink),
        store: stored((body) => {
          const params = { linkId }
          return body ? call('setLinkQrDesign', { params, body }, slug) : call('deleteLinkQrDesign', { params }, slug)
        }),
      }
    : {
        id: 'link',
        ...readable(inherited),
        ...(draft && { design: draft, source: 'link' as const }),
        store: async (design) => onUse?.(design),
      }
  const ofDomain: Scope = {
    id: 'domain',
    ...readable(forDomain),
    store: stored((body) => {
      const params = { slug: domain }
      return body ? call('setDomainQrDesign', { params, body }, slug) : call('deleteDomainQrDesign', { params }, slug)
    }),
  }
  const ofWorkspace: Scope = {
    id: 'workspace',
    ...readable(forWorkspace),
    store: stored((body) => {
      const params = { idOrSlug: slug }
      return body
        ? call('setWorkspaceQrDesign', { params, body }, slug)
        : call('deleteWorkspaceQrDesign', { params }, slug)
    }),
  }
  return [
    link,
    ...(domain && can('domains.write') ? [ofDomain] : []),
    ...(can('workspaces.write') ? [ofWorkspace] : []),
  ]
}

type Read = { data?: EffectiveQrDesign; error: Error | null; isPlaceholderData: boolean; refetch(): unknown }

function readable({ data, error, isPlaceholderData, refetch }: Read): Omit<Scope, 'id' | 'store'> {
  const current = isPlaceholderData ? undefined : data
  return { design: current?.design, source: current?.source, error, retry: () => void refetch() }
}
