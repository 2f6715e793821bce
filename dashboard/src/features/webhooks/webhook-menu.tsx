import { Trans, useLingui } from '@lingui/react/macro'
import { Ellipsis } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuContent, MenuItem, MenuLine, MenuTrigger } from '../../ui/menu.tsx'
import { useEnabling } from './webhook-actions.ts'
import type { Webhook } from './webhook-values.ts'

const WebhookDrawer = lazy(async () => ({ default: (await import('./webhook-drawer.tsx')).WebhookDrawer }))
const RotateSecret = lazy(async () => ({ default: (await import('./rotate-secret.tsx')).RotateSecret }))
const DeleteWebhook = lazy(async () => ({ default: (await import('./delete-webhook.tsx')).DeleteWebhook }))

/** What can be done with a webhook as a whole. */
export function WebhookMenu({ webhook, onDeleted }: { webhook: Webhook; onDeleted?(): void }) {
  const { t } = useLingui()
  const [open, setOpen] = useState<'edit' | 'rotate' | 'delete'>()
  const close = () => setOpen(undefined)
  const { enable, disable } = useEnabling(webhook)
  return (
    <>
      <Menu>
        <MenuTrigger asChild>
          <Button kind="quiet" size="icon" className="size-7!" aria-label={t`Actions for ${webhook.name}`}>
            <Ellipsis size={16} aria-hidden />
          </Button>
        </MenuTrigger>
        <MenuContent align="end">
          <MenuItem onSelect={() => setOpen('edit')}>
            <Trans>Edit</Trans>
          </MenuItem>
          <MenuItem onSelect={() => setOpen('rotate')}>
            <Trans>Rotate secret</Trans>
          </MenuItem>
          {webhook.disabledAt === null ? (
            <MenuItem onSelect={() => void disable()}>
              <Trans>Disable</Trans>
            </MenuItem>
          ) : (
            <MenuItem onSelect={() => void enable()}>
              <Trans>Enable again</Trans>
            </MenuItem>
          )}
          <MenuLine />
          <MenuItem className="text-harm" onSelect={() => setOpen('delete')}>
            <Trans>Delete</Trans>
          </MenuItem>
        </MenuContent>
      </Menu>
      <Suspense>
        {open === 'edit' && <WebhookDrawer webhook={webhook} onClose={close} />}
        {open === 'rotate' && <RotateSecret webhook={webhook} onClose={close} />}
        {open === 'delete' && <DeleteWebhook webhook={webhook} onClose={close} onDeleted={onDeleted} />}
      </Suspense>
    </>
  )
}
