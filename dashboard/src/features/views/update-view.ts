import { useLingui } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { toast } from '../../ui/toast.tsx'
import type { View, ViewQuery } from './view-query.ts'

/** Saves what the screen shows in the open view; undo saves what the view had before. */
export function useUpdateView(view: View, query: ViewQuery) {
  const { t } = useLingui()
  const { mutateAsync, error, isPending } = useChange('updateView', ['listViews'])
  const params = { id: view.id }
  const update = async () => {
    await mutateAsync({ params, body: { query } })
    const undo = () => mutateAsync({ params, body: { query: view.query } })
    toast({ title: t`Updated “${view.name}”`, undo })
  }
  return { update: () => void update().catch(() => {}), error, isPending }
}
