// Less than the timeout of a silent DNS server.
const slowMs = 3_000

export type DueWebhook = { id: string; workspaceId: string }
export type DeliverySlots = {
  /** The number of calls that may begin, and the webhook id after which to look for them. */
  room(): { count: number; after: string }
  /** The number of calls that each webhook may begin. The webhooks come in id order, at most `room` of them. */
  share(webhooks: DueWebhook[]): Map<string, number>
  /** The deliveries that were found for these shares. */
  began(webhookIds: string[]): void
  /** Returns whether a delivery may have waited for this slot. */
  ended(webhookId: string, tookMs?: number): boolean
}
type Limits = { perWebhook: number; perWorkspace: number; inAll: number }

/**
 * Counts calls in progress in total, per workspace and per receiver, so that a workspace with many webhooks gets no
 * more slots than one with few. When there are more due webhooks than slots they take turns: the next query starts
 * after the last webhook seen. A slow receiver gets one slot until it answers quickly again.
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
  /** Webhooks and workspaces that may have more deliveries than slots. */
  let backlogged = new Set<string>()
  let isCrowded = false
  const countSlots = (id: string) => (slow.has(id) ? 1 : perWebhook)

  /** Shares slots among the webhooks of one workspace, those with the fewest calls first. */
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
