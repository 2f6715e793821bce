// Less than a DNS server that says nothing takes.
const slowMs = 3_000

export type DueWebhook = { id: string; workspaceId: string }
export type DeliverySlots = {
  /** How many calls may begin, and after which webhook to look for them. */
  room(): { count: number; after: string }
  /** How many each of these webhooks may have; they come in the order of their ids, as many as there was room for. */
  share(webhooks: DueWebhook[]): Map<string, number>
  /** What there was of these shares. */
  began(webhookIds: string[]): void
  /** Whether somebody may have waited for it. */
  ended(webhookId: string, tookMs?: number): boolean
}
type Limits = { perWebhook: number; perWorkspace: number; inAll: number }

/**
 * How many calls are under way, in all, for each workspace and to each receiver, so that a workspace with many webhooks
 * takes no more than one with few. When more webhooks have something to do than may do it at once they take turns: the
 * next look begins after the last that was seen. A slow receiver gets one line until it answers quickly again.
 */
export function openLines({ perWebhook, perWorkspace, inAll }: Limits): DeliverySlots {
  const busy = new Map<string, number>()
  const busyWorkspaces = new Map<string, number>()
  const workspaces = new Map<string, string>()
  const slow = new Set<string>()
  let total = 0
  let room = inAll
  let after = ''
  let shares = new Map<string, number>()
  /** Webhooks and workspaces that may have more to do than they could begin. */
  let backlogged = new Set<string>()
  let isCrowded = false
  const countSlots = (id: string) => (slow.has(id) ? 1 : perWebhook)

  /** The webhooks of one workspace, those with the fewest calls first. */
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
