import { Trans, useLingui } from '@lingui/react/macro'
import { Check } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'

export type Option = { value: string; name: string; content?: ReactNode }

type Props = {
  label: string
  options: readonly Option[]
  selected: readonly string[]
  onChoose(value: string): void
  /** With it the list has a field to search in; the caller answers with other options. */
  search?: string
  onSearch?(search: string): void
  isLoading?: boolean
  /** Offers to create what was searched for and is not there. */
  onCreate?(name: string): void
}

/** A field and the options that match it: arrows move, Enter chooses. */
export function OptionList(props: Props) {
  const { label, options, selected, onChoose, search = '', onSearch, isLoading, onCreate } = props
  const { t } = useLingui()
  const id = useId()
  const [activeIndex, setActive] = useState(0)
  const name = search.trim()
  const canCreate =
    onCreate && name !== '' && !options.some((option) => option.name.toLowerCase() === name.toLowerCase())
  const count = options.length + (canCreate ? 1 : 0)
  const active = Math.min(activeIndex, count - 1)
  const choose = (index: number) => {
    const option = options[index]
    if (option) onChoose(option.value)
    else if (canCreate) onCreate(name)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step !== undefined && count > 0) {
      event.preventDefault()
      setActive((active + step + count) % count)
    } else if (event.key === 'Enter' && !event.metaKey && !event.ctrlKey) {
      event.preventDefault()
      choose(active)
    }
  }
  return (
    <div className="flex max-h-80 w-64 max-w-full flex-col">
      <input
        // biome-ignore lint/a11y/noAutofocus: the list opens to be typed in
        autoFocus
        role="combobox"
        aria-label={label}
        aria-expanded
        aria-controls={id}
        aria-activedescendant={count > 0 ? `${id}-${active}` : undefined}
        placeholder={label}
        value={search}
        readOnly={!onSearch}
        onChange={(event) => {
          onSearch?.(event.target.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
        className="h-9 shrink-0 border-b bg-transparent px-3 text-sm outline-none placeholder:text-faint focus-visible:shadow-none max-md:h-11 max-md:text-base"
      />
      <div id={id} role="listbox" aria-label={label} tabIndex={-1} className="min-h-0 overflow-y-auto p-1 outline-none">
        {options.map(({ value, name, content }, index) => (
          <Item
            key={value}
            id={`${id}-${index}`}
            isActive={index === active}
            isSelected={selected.includes(value)}
            onPoint={() => setActive(index)}
            onChoose={() => choose(index)}
          >
            {content ?? <span className="truncate">{name}</span>}
          </Item>
        ))}
        {canCreate && (
          <Item
            id={`${id}-${options.length}`}
            isActive={active === options.length}
            isSelected={false}
            onPoint={() => setActive(options.length)}
            onChoose={() => choose(options.length)}
          >
            <span className="truncate">
              <Trans>Create “{name}”</Trans>
            </span>
          </Item>
        )}
      </div>
      {count === 0 && (
        <p role="status" className="px-3 pb-3 text-sm text-muted">
          {isLoading ? t`Loading` : name ? t`Nothing matches “${name}”.` : t`There is nothing to choose yet.`}
        </p>
      )}
    </div>
  )
}

type ItemProps = {
  id: string
  isActive: boolean
  isSelected: boolean
  onPoint(): void
  onChoose(): void
  children: ReactNode
}

function Item({ id, isActive, isSelected, onPoint, onChoose, children }: ItemProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and handles Enter
    // biome-ignore lint/a11y/useFocusableInteractive: options are named by aria-activedescendant
    <div
      id={id}
      role="option"
      aria-selected={isSelected}
      onPointerMove={onPoint}
      onClick={onChoose}
      className={`flex min-h-8 items-center gap-2 rounded-sm px-2 text-sm max-md:min-h-11 ${isActive ? 'bg-hover' : ''}`}
    >
      <span dir="auto" className="flex min-w-0 flex-1 items-center">
        {children}
      </span>
      {isSelected && <Check size={14} aria-hidden className="shrink-0" />}
    </div>
  )
}
