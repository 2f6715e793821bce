import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { toast, toastError } from '../../ui/toast.tsx'

/** Why reports of a host are refused, and a button that allows it. */
export function AllowHost({ host }: { host: string }) {
  const { t } = useLingui()
  const { slug, can } = useWorkspace()
  const client = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const allow = async () => {
    setBusy(true)
    const params = { idOrSlug: slug }
    try {
      const { allowedHostnames } = await call('getWorkspace', { params }, slug)
      await call('updateWorkspace', { params, body: { allowedHostnames: [...allowedHostnames, host] } }, slug)
      toast({ title: t`Allowed ${host}` })
      await client.invalidateQueries({ queryKey: [slug, 'getWorkspace'] })
    } catch (error) {
      toastError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <p>
        <Trans>
          Clicks, leads and sales that the page itself sends are refused. Calls from your server are not concerned.
        </Trans>
      </p>
      {host !== '' && can('workspaces.write') && (
        <span>
          <Button kind="first" disabled={isBusy} onClick={() => void allow()}>
            <Trans>Allow {host}</Trans>
          </Button>
        </span>
      )}
    </>
  )
}
