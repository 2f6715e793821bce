import { Trans, useLingui } from '@lingui/react/macro'
import { Archive, CopyPlus, Ellipsis, Pencil, QrCode, Trash2 } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Menu, MenuContent, MenuItem, MenuLine, MenuTrigger } from '../../ui/menu.tsx'
import { openDesigner } from '../qr-designs/designer-state.ts'
import { openBuilder } from './builder-state.ts'
import { useLinkActions } from './link-actions.ts'
import type { Link } from './queries.ts'
import { designTarget, shortAddress } from './texts.ts'

type Props = { link: Link; onDeleted?(): void }

/** What can be done with a link. The menu itself is made when it is first opened: a list has one per row. */
export function LinkMenu(props: Props) {
  const [isMade, setMade] = useState(false)
  if (isMade) return <MadeMenu {...props} />
  return <MenuButton link={props.link} aria-haspopup="menu" aria-expanded={false} onClick={() => setMade(true)} />
}

function MenuButton({ link, ...rest }: ComponentProps<'button'> & { link: Link }) {
  const { t } = useLingui()
  return (
    <Button kind="quiet" size="icon" className="size-7!" aria-label={t`Actions for ${shortAddress(link)}`} {...rest}>
      <Ellipsis size={16} aria-hidden />
    </Button>
  )
}

/** The menu, open, with the keys that do the same in the list. */
function MadeMenu({ link, onDeleted }: Props) {
  const { remove, archive } = useLinkActions()
  const icon = { size: 14, strokeWidth: 1.75, 'aria-hidden': true }
  return (
    <Menu defaultOpen>
      <MenuTrigger asChild>
        <MenuButton link={link} />
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
