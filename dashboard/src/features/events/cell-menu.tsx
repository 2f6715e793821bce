import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { copyText } from '../../ui/copy-button.tsx'
import { Menu, MenuContent, MenuItem, MenuLabel, MenuLine, MenuTrigger } from '../../ui/menu.tsx'
import { formatValues, parseValues } from '../analytics/filter-values.ts'
import { useCellText } from './cell-text.ts'
import { columnNames } from './column-names.ts'
import { columnFilters, filterValue } from './columns.ts'
import type { OpenCell } from './event-columns.tsx'
import type { ChangeEvents, EventsSearch } from './search.ts'

type Props = { cell: OpenCell; search: EventsSearch; change: ChangeEvents; onClose(): void }

/** What can be done with the value of a cell: see only it, leave it out, open what it names. One menu serves all cells. */
export function CellMenu({ cell, search, change, onClose }: Props) {
  const { t } = useLingui()
  const { name, event, button } = cell
  const navigate = useNavigate({ from: '/$workspace' })
  const text = useCellText()(name, event)
  const filter = columnFilters[name]
  const value = filterValue(name, event)
  const show = (isExcluded: boolean) => {
    if (!filter) return
    const before = parseValues(search[filter])
    const others = isExcluded && before.isExcluded ? before.values.filter((one) => one !== value) : []
    change({ [filter]: formatValues({ values: [...others, value], isExcluded }) })
  }
  const shown = <bdi className="max-w-56 truncate">{text}</bdi>
  const box = button.getBoundingClientRect()
  return (
    <Menu open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <MenuTrigger asChild>
        <span aria-hidden className="pointer-events-none fixed" style={toStyle(box)} />
      </MenuTrigger>
      <MenuContent
        ref={focusFirst}
        align="start"
        aria-label={t(columnNames[name])}
        onCloseAutoFocus={(closing) => {
          closing.preventDefault()
          button.focus({ preventScroll: true })
        }}
      >
        <MenuLabel>{t(columnNames[name])}</MenuLabel>
        {filter && (
          <>
            <MenuItem onSelect={() => show(false)}>
              <span className="flex gap-1">
                <Trans>Only {shown}</Trans>
              </span>
            </MenuItem>
            <MenuItem onSelect={() => show(true)}>
              <span className="flex gap-1">
                <Trans>Not {shown}</Trans>
              </span>
            </MenuItem>
          </>
        )}
        {name === 'customer' && event.event !== 'click' && (
          <>
            <MenuItem onSelect={() => change({ customerId: event.customer.id })}>
              <span className="flex gap-1">
                <Trans>Only {shown}</Trans>
              </span>
            </MenuItem>
            <MenuItem onSelect={() => void navigate({ to: `/$workspace/customers/${event.customer.id}` as string })}>
              {t`Open customer`}
            </MenuItem>
          </>
        )}
        {name === 'link' && (
          <MenuItem onSelect={() => void navigate({ to: '/$workspace/links/$id', params: { id: event.link.id } })}>
            {t`Open link`}
          </MenuItem>
        )}
        <MenuLine />
        <MenuItem onSelect={() => void copyText(name === 'link' ? event.link.shortLink : value || text)}>
          {t`Copy`}
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}

/** The menu is made when it opens, too late to know whether a key opened it. */
function focusFirst(content: HTMLElement | null): void {
  content?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
}

function toStyle({ left, top, width, height }: DOMRect) {
  return { left, top, width, height }
}
