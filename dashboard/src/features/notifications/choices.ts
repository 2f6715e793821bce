import { useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import type { NotificationKind, NotificationSettings } from '@tributary/contract/notifications'
import { call } from '../../app/call.ts'
import { operationQuery } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { toast } from '../../ui/toast.tsx'

/** Returns a function that turns a kind on or off at once, and then on the server, whose answer wins. */
export function useChoose(): (kind: NotificationKind, isOn: boolean) => Promise<void> {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const { queryKey } = operationQuery(slug, 'getNotificationSettings')
  return async (kind, isOn) => {
    const before = client.getQueryData(queryKey)
    if (before) client.setQueryData(queryKey, withChoice(before, kind, isOn))
    try {
      client.setQueryData(queryKey, await call('updateNotificationSettings', { body: { [kind]: isOn } }, slug))
    } catch (error) {
      void client.invalidateQueries({ queryKey })
      toast({ kind: 'harm', title: t`This was not saved`, detail: (error as Error).message })
    }
  }
}

function withChoice(settings: NotificationSettings, kind: NotificationKind, isOn: boolean): NotificationSettings {
  const kinds = settings.kinds.map((one) => (one.kind === kind ? { ...one, enabled: isOn } : one))
  return { ...settings, kinds }
}
