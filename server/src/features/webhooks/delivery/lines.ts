// Less than a DNS server that says nothing takes.
const slowMs = 3_000

export type Lines = {
  /** How many calls may begin, and after which webhook to look for them. */
  room(): { count: number; after: string }
  /** How many each of these webhooks may have; they come in the order of their ids, as many as there was room for. */
  share(webhookIds: string[]): Map<string, number>
  /** What there was of these shares. */
  began(webhookIds: string[]): void
  /** Whether somebody may have waited for it. */
  ended(webhookId: string, tookMs?: number): boolean
}

/**
 * How many calls are under way, in all and to each receiver. When more webhooks have something to do than may do it at
 * once they take turns: the next look begins after the last that was seen. A slow receiver gets one line until it answers
 * quickly again, so that many of them can't take all.
 */
export function openLines(perWebhook: number, inAll: number): Lines {
  const busy = new Map<string, number>()
  const slow = new Set<string>()
  let total = 0
  let room = inAll
  let after = ''
  let shares = new Map<string, number>()
  /** Webhooks that may have more to do than they could begin. */
  let hungry = new Set<string>()
  let isCrowded = false
  const linesOf = (id: string) => (slow.has(id) ? 1 : perWebhook)

  return {
    room: () => ({ count: inAll - total, after }),
    share(webhookIds) {
      room = inAll - total
      const wanted = webhookIds.map((id) => [id, linesOf(id) - (busy.get(id) ?? 0)] as const)
      shares = new Map(wanted.filter(([, share]) => share > 0))
      hungry = new Set(wanted.flatMap(([id, share]) => (share > 0 ? [] : [id])))
      isCrowded = webhookIds.length >= room
      after = isCrowded ? (webhookIds.at(-1) ?? '') : ''
      return shares
    },
    began(webhookIds) {
      total += webhookIds.length
      for (const id of webhookIds) {
        busy.set(id, (busy.get(id) ?? 0) + 1)
        const left = (shares.get(id) ?? 0) - 1
        shares.set(id, left)
        if (left <= 0) hungry.add(id)
      }
      isCrowded ||= webhookIds.length >= room
    },
    ended(webhookId, tookMs = 0) {
      if (tookMs >= slowMs) slow.add(webhookId)
      else slow.delete(webhookId)
      const calls = busy.get(webhookId) ?? 0
      if (calls > 1) busy.set(webhookId, calls - 1)
      else busy.delete(webhookId)
      total -= 1
      return isCrowded || hungry.has(webhookId)
    },
  }
}
