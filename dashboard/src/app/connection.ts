import { useSyncExternalStore } from 'react'

/** Since when the server does not answer; undefined while it does. */
let lostAt: number | undefined
const changed = new EventTarget()

/** Called with the outcome of each request that reached the network. */
export function reportConnection(isAnswered: boolean): void {
  if (isAnswered === (lostAt === undefined)) return
  lostAt = isAnswered ? undefined : Date.now()
  changed.dispatchEvent(new Event('change'))
}

export function useConnectionLoss(): number | undefined {
  return useSyncExternalStore(subscribe, () => lostAt)
}

function subscribe(listener: () => void): () => void {
  const lose = () => reportConnection(false)
  changed.addEventListener('change', listener)
  addEventListener('offline', lose)
  return () => {
    changed.removeEventListener('change', listener)
    removeEventListener('offline', lose)
  }
}
