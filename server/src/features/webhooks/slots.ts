// Calls from this duration on are slow. It is shorter than a DNS timeout, so that a silent DNS server counts as slow.
const slowMs = 3_000

export type DueWebhook = { id: string; workspaceId: string }
export type DeliverySlots = {
  /** The number of free slots, and the webhook id after which the next query starts. */
  room(): { count: number; after: string }
  /** Divides the free slots among due webhooks, given in id order. Returns the number of calls per webhook id. */
  share(webhooks: DueWebhook[]): Map<string, number>
  /** Occupies one slot per claimed delivery. */
  began(webhookIds: string[]): void
  /** Frees the slot of an ended call. Returns whether a due delivery may be waiting for it. */
  ended(webhookId: string, tookMs?: number): boolean
}
type Limits = { perWebhook: number; perWorkspace: number; inAll: number }

/**
 * Limits concurrent webhook calls in total, per workspace and per webhook, so that a workspace with many webhooks gets
 * no more slots than one with few. When there are more due webhooks than slots they take turns: the next query starts
 * after the last webhook seen. A webhook with a slow receiver gets one slot until a call is quick again.
 */
export function openSlots({ perWebhook, perWorkspace, inAll }: Limits): DeliverySlots {
  const busy = new Map<string, number>()
  const busyWorkspaces = new Map<string, number>()
  const workspaces = new Map<string, string>()
  const slow = new Set<string>()
  let total = 0
  let room = inAll
  let after = ''
  let shares = new Map<string, number>()
  /** Ids of webhooks and workspaces that may have more due deliveries than slots. */
  let backlogged = new Set<string>()
  let isCrowded = false
  const countSlots = (id: string) => (slow.has(id) ? 1 : perWebhook)

  /** Divides slots among the webhooks of one workspace, starting with those that have the fewest open calls. */
  function divide(workspaceId: string, webhooks: DueWebhook[]): void {
    let left = perWorkspace - (busyWorkspaces.get(workspaceId) ?? 0)
    const each = Math.max(1, Math.floor(left / webhooks.length))
    const inTurn = webhooks.toSorted((a, b) => (busy.get(a.id) ?? 0) - (busy.get(b.id) ?? 0))
    for (const { id } of inTurn) {
      const free = countSlots(id) - (busy.get(id) ?? 0)
      const share = Math.min(free, each, left)
      if (share > 0) shares.set(id, share)
      if (free <= 0) backlogged.add(id)
      else if (share < free) backlogged.add(workspaceId)
      left -= Math.max(0, share)
    }
  }

  return {
    room: () => ({ count: inAll - total, after }),
    share(webhooks) {
      room = inAll - total
      shares = new Map()
      backlogged = new Set()
      for (const { id, workspaceId } of webhooks) workspaces.set(id, workspaceId)
      for (const [workspaceId, mine] of Map.groupBy(webhooks, (webhook) => webhook.workspaceId))
        divide(workspaceId, mine)
      isCrowded = webhooks.length >= room
      after = isCrowded ? (webhooks.at(-1)?.id ?? '') : ''
      for (const id of workspaces.keys()) if (!busy.has(id) && !shares.has(id)) workspaces.delete(id)
      return shares
    },
    began(webhookIds) {
      total += webhookIds.length
      for (const id of webhookIds) {
        add(busy, id, 1)
        add(busyWorkspaces, workspaces.get(id) ?? '', 1)
        const left = (shares.get(id) ?? 0) - 1
        shares.set(id, left)
        if (left <= 0) backlogged.add(id)
      }
      isCrowded ||= webhookIds.length >= room
    },
    ended(webhookId, tookMs = 0) {
      if (tookMs >= slowMs) slow.add(webhookId)
      else slow.delete(webhookId)
      const workspaceId = workspaces.get(webhookId) ?? ''
      add(busy, webhookId, -1)
      add(busyWorkspaces, workspaceId, -1)
      total -= 1
      return isCrowded || backlogged.has(webhookId) || backlogged.has(workspaceId)
    },
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
