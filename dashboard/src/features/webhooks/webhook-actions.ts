import { useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import type { Webhook } from './webhook-values.ts'

/** Reads again what shows webhooks and their deliveries. */
export function useReadWebhooksAgain(): () => Promise<void> {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  return useCallback(async () => {
    const names = ['listWebhooks', 'getWebhook', 'listWebhookDeliveries', 'getWebhookDelivery']
    await Promise.all(names.map((name) => client.invalidateQueries({ queryKey: [slug, name] })))
  }, [client, slug])
}

/** Enables a webhook again, or disables it; disabling has Undo. */
export function useEnabling({ id, name }: Webhook) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const readAgain = useReadWebhooksAgain()
  const set = async (disabled: boolean): Promise<boolean> => {
    try {
      await call('updateWebhook', { params: { id }, body: { disabled } }, slug)
      return true
    } catch (error) {
      toastError(error)
      return false
    } finally {
      await readAgain()
    }
  }
  const enable = async () => {
    if (await set(false)) toast({ title: t`Enabled ${name}` })
  }
  const disable = async () => {
    if (await set(true)) toast({ title: t`Disabled ${name}`, undo: () => set(false) })
  }
  return { enable, disable }
}
