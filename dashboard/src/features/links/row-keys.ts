import { useLingui } from '@lingui/react/macro'
import { useCommands } from '../../app/commands.ts'
import { copyText } from '../../ui/copy-button.tsx'
import { focusedIndex, focusRow } from '../../ui/row-focus.ts'
import { openDesigner } from '../qr-designs/designer-state.ts'
import { openBuilder } from './builder-state.ts'
import { useLinkActions } from './link-actions.ts'
import type { Link, LinkList } from './queries.ts'
import type { LinkSelection } from './selection.ts'
import { designTarget } from './texts.ts'

/** Keys of the list: J and K move between rows; the others act on the row that has the focus. */
export function useRowKeys(list: LinkList | undefined, selection: LinkSelection | undefined, isOff: boolean): void {
  const { t } = useLingui()
  const { archive, remove } = useLinkActions()
  const onFocused = (act: (link: Link) => void) => () => {
    const link = list?.at(focusedIndex())
    if (link) act(link)
  }
  const group = t`List of links`
  const moving = [
    { id: 'links.next', name: t`Next link`, keys: 'j', run: () => focusRow(1) },
    { id: 'links.previous', name: t`Previous link`, keys: 'k', run: () => focusRow(-1) },
    {
      id: 'links.copy',
      name: t`Copy the address`,
      keys: 'y',
      run: onFocused(({ shortLink }) => void copyText(shortLink)),
    },
  ]
  const writing = selection
    ? [
        {
          id: 'links.select',
          name: t`Select the link`,
          keys: 'x',
          run: onFocused(({ id }) => selection.toggle(id, false)),
        },
        { id: 'links.selectAll', name: t`Select all that match`, keys: 'Shift+X', run: selection.selectAll },
        {
          id: 'links.duplicate',
          name: t`Duplicate the link`,
          keys: 'd',
          run: onFocused((link) => openBuilder({ copy: link })),
        },
        {
          id: 'links.qr',
          name: t`Design the QR code`,
          keys: 'q',
          run: onFocused((link) => openDesigner(designTarget(link))),
        },
        ...(selection.ids.length === 0 && !selection.isAll
          ? [
              {
                id: 'links.edit',
                name: t`Edit the link`,
                keys: 'e',
                run: onFocused((link) => openBuilder({ edit: link })),
              },
              {
                id: 'links.archive',
                name: t`Archive the link`,
                keys: 'a',
                run: onFocused((link) => void archive(link, !link.archived)),
              },
              {
                id: 'links.delete',
                name: t`Delete the link`,
                keys: 'Backspace',
                run: onFocused((link) => void remove(link)),
              },
            ]
          : []),
      ]
    : []
  useCommands(isOff ? [] : [...moving, ...writing].map((command) => ({ ...command, group, isOnlyKey: true })))
}
