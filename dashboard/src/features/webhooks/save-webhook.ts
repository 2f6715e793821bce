import { ApiError } from '@tributary/contract/client'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../app/call.ts'
import { fieldMessage, findErrorField } from '../../app/field-errors.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { useReadWebhooksAgain } from './webhook-actions.ts'
import {
  newWebhookBody,
  type Webhook,
  type WebhookField,
  type WebhookValues,
  webhookFields,
  webhookPatchBody,
} from './webhook-values.ts'

type Outcome = { isSaved?: true; errors?: Partial<Record<WebhookField, string>> }

/** Creates a webhook, or changes one as it was when the form opened: a change by somebody else in between is a conflict. */
export function useSaveWebhook(id: string | undefined) {
  const { slug } = useWorkspace()
  const readAgain = useReadWebhooksAgain()
  const [isSaving, setSaving] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [isConflict, setConflict] = useState(false)
  const [secret, setSecret] = useState<string>()
  const version = useRef<string>(undefined)
  const read = (id: string): Promise<Webhook> =>
    call(
      'getWebhook',
      { params: { id }, onHeaders: (headers) => (version.current = headers.get('etag') ?? undefined) },
      slug,
    )
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as the form opens
  useEffect(() => {
    if (id) void read(id).catch(() => undefined)
  }, [id])

  async function save(before: WebhookValues, after: WebhookValues): Promise<Outcome> {
    setSaving(true)
    setFailure(undefined)
    setConflict(false)
    try {
      if (id) {
        const headers = version.current ? { 'if-match': version.current } : undefined
        await call('updateWebhook', { params: { id }, body: webhookPatchBody(before, after), headers }, slug)
      } else setSecret((await call('createWebhook', { body: newWebhookBody(after) }, slug)).secret)
      return { isSaved: true }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const isRefused = error instanceof ApiError && error.status === 409
      const isTaken = isRefused && /already has the address/.test(error.message)
      if (isRefused && !isTaken) {
        setConflict(true)
        return {}
      }
      const field = isTaken ? 'url' : findErrorField(error.message, webhookFields)
      if (!field) setFailure(error.message)
      return field ? { errors: { [field]: fieldMessage(error.message) } } : {}
    } finally {
      setSaving(false)
      void readAgain()
    }
  }
  const reload = async (): Promise<Webhook> => {
    setConflict(false)
    return read(id ?? '')
  }
  return { save, isSaving, failure, isConflict, reload, secret }
}
