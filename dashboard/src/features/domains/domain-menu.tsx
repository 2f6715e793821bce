import { Trans, useLingui } from '@lingui/react/macro'
import { Archive, Ellipsis, Pencil, Star, Trash2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuContent, MenuItem, MenuLine, MenuTrigger } from '../../ui/menu.tsx'
import { useDomainActions } from './domain-actions.ts'
import type { Domain } from './queries.ts'

const DomainDrawer = lazy(async () => ({ default: (await import('./domain-drawer.tsx')).DomainDrawer }))
const DeleteDomain = lazy(async () => ({ default: (await import('./delete-domain.tsx')).DeleteDomain }))

/** What can be done with a domain. */
export function DomainMenu({ domain, onDeleted }: { domain: Domain; onDeleted?(): void }) {
  const { t } = useLingui()
  const { archive, makeDefault } = useDomainActions()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const close = () => setOpen(undefined)
  const icon = { size: 14, strokeWidth: 1.75, 'aria-hidden': true }
  return (
    <>
      <Menu>
        <MenuTrigger asChild>
          <Button kind="quiet" size="icon" className="size-7!" aria-label={t`Actions for ${domain.slug}`}>
            <Ellipsis size={16} aria-hidden />
          </Button>
        </MenuTrigger>
        <MenuContent align="end">
          <MenuItem onSelect={() => setOpen('edit')}>
            <Pencil {...icon} />
            <Trans>Edit</Trans>
          </MenuItem>
          {!domain.primary && (
            <MenuItem onSelect={() => void makeDefault(domain)}>
              <Star {...icon} />
              <Trans>Make default</Trans>
            </MenuItem>
          )}
          <MenuItem onSelect={() => void archive(domain, !domain.archived)}>
            <Archive {...icon} />
            {domain.archived ? <Trans>Unarchive</Trans> : <Trans>Archive</Trans>}
          </MenuItem>
          <MenuLine />
          <MenuItem className="text-harm" onSelect={() => setOpen('delete')}>
            <Trash2 {...icon} />
            <Trans>Delete</Trans>
          </MenuItem>
        </MenuContent>
      </Menu>
      <Suspense>
        {open === 'edit' && <DomainDrawer domain={domain} onClose={close} />}
        {open === 'delete' && <DeleteDomain domain={domain} onClose={close} onDeleted={onDeleted} />}
      </Suspense>
    </>
  )
}
