import { Trans, useLingui } from '@lingui/react/macro'
import { Archive, CopyPlus, Ellipsis, Pencil, QrCode, Trash2 } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Menu, MenuContent, MenuItem, MenuLine, MenuTrigger } from '../../ui/menu.tsx'
import { openDesigner } from '../qr-designs/designer-state.ts'
import { openBuilder } from './builder-state.ts'
import { useLinkActions } from './link-actions.ts'
import type { Link } from './queries.ts'
import { designTarget, shortAddress } from './texts.ts'

/** What can be done with a link, with the keys that do it in the list. */
export function LinkMenu({ link, onDeleted }: { link: Link; onDeleted?(): void }) {
  const { t } = useLingui()
  const { remove, archive } = useLinkActions()
  const icon = { size: 14, strokeWidth: 1.75, 'aria-hidden': true }
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button kind="quiet" size="icon" className="size-7!" aria-label={t`Actions for ${shortAddress(link)}`}>
          <Ellipsis size={16} aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent align="end">
        <MenuItem onSelect={() => openBuilder({ edit: link })}>
          <Pencil {...icon} />
          <span className="flex-1">
            <Trans>Edit</Trans>
          </span>
          <Kbd>E</Kbd>
        </MenuItem>
        <MenuItem onSelect={() => openBuilder({ copy: link })}>
          <CopyPlus {...icon} />
          <span className="flex-1">
            <Trans>Duplicate</Trans>
          </span>
          <Kbd>D</Kbd>
        </MenuItem>
        <MenuItem onSelect={() => openDesigner(designTarget(link))}>
          <QrCode {...icon} />
          <span className="flex-1">
            <Trans>QR code</Trans>
          </span>
          <Kbd>Q</Kbd>
        </MenuItem>
        <MenuItem onSelect={() => void archive(link, !link.archived)}>
          <Archive {...icon} />
          <span className="flex-1">{link.archived ? <Trans>Unarchive</Trans> : <Trans>Archive</Trans>}</span>
          <Kbd>A</Kbd>
        </MenuItem>
        <MenuLine />
        <MenuItem className="text-harm" onSelect={() => void remove(link).then((isDone) => isDone && onDeleted?.())}>
          <Trash2 {...icon} />
          <span className="flex-1">
            <Trans>Delete</Trans>
          </span>
          <Kbd>⌫</Kbd>
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}
