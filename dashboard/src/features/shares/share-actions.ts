import { useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { toastError } from '../../ui/toast.tsx'
import { isEnded, type Share } from './share-values.ts'

/** Stops sharing and continues it, with the same address and the same end as before. */
export function useShareActions(share: Share) {
  const { mutateAsync } = useChange('updateShare', ['listShares'])
  const [endBefore, setEndBefore] = useState<string | null>(null)
  const setEnd = (endsAt: string | null) =>
    mutateAsync({ params: { id: share.id }, body: { endsAt } }).catch(toastError)
  return {
    async stop() {
      setEndBefore(share.endsAt)
      await setEnd(new Date().toISOString())
    },
    async resume() {
      await setEnd(isEnded({ endsAt: endBefore }) ? null : endBefore)
    },
  }
}
