import { Trans, useLingui } from '@lingui/react/macro'
import { useRouter } from '@tanstack/react-router'
import { Command as Palettes } from 'cmdk'
import type { LucideIcon } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react'
import { Kbd } from '../ui/kbd.tsx'
import { useAllCommands } from './commands.ts'
import { formatKeys } from './keys.ts'
import { type Found, useFound } from './palette-search.ts'
import { useWorkspace } from './workspace.ts'

/**
 * Finds every object of the workspace and every action of the page. Radix's modal mode would make the browser compute the
 * style of the whole page anew before it shows, so the scrim, the trap for Tab and `aria-modal` are here.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const [text, setText] = useState('')
  const { slug } = useWorkspace()
  const { history } = useRouter()
  const commands = useAllCommands().filter((command) => !command.isOnlyKey && matches(command, text))
  const { found, isSearching } = useFound(text)
  const [chosen, setChosen] = useState('')
  const firstId = found[0]?.id ?? commands[0]?.id ?? ''
  // Enter opens the best match, also when it has come after the commands were listed.
  useEffect(() => setChosen(firstId), [firstId])
  commands.sort((one, other) => Number(one.isSetting ?? false) - Number(other.isSetting ?? false))
  const groups = Map.groupBy(commands, ({ group }) => group ?? t`Actions`)
  const choose = (run: () => void) => () => {
    onClose()
    run()
  }
  const open = ({ path }: Found) => choose(() => history.push(`/app/${slug}${path}`))
  return (
    <Dialog.Root open modal={false} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <div aria-hidden className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          aria-modal
          onKeyDown={trapTab}
          className="fixed top-[12vh] left-1/2 z-50 w-[min(600px,calc(100vw-24px))] -translate-x-1/2 overflow-hidden rounded-lg border border-line-strong bg-raised shadow-overlay"
        >
          <Dialog.Title className="sr-only">
            <Trans>Find anything</Trans>
          </Dialog.Title>
          <Palettes shouldFilter={false} loop label={t`Find anything`} value={chosen} onValueChange={setChosen}>
            <Palettes.Input
              value={text}
              onValueChange={setText}
              placeholder={t`Find links, customers, domains, pages and actions`}
              className="h-12 w-full border-b bg-transparent px-4 text-base outline-none placeholder:text-faint focus-visible:shadow-none"
            />
            <Palettes.List className={`max-h-[min(420px,60vh)] overflow-y-auto p-1 ${isSearching ? 'opacity-60' : ''}`}>
              <Palettes.Empty className="px-3 py-8 text-center text-muted">
                {isSearching ? <Trans>Searching</Trans> : <Trans>Nothing has “{text}” in its name.</Trans>}
              </Palettes.Empty>
              {[...Map.groupBy(found, ({ group }) => group)].map(([name, objects]) => (
                <Group key={name} name={name}>
                  {objects.map((object) => (
                    <Row key={object.id} value={object.id} onSelect={open(object)} icon={object.icon}>
                      <span className="truncate">{object.name}</span>
                      {object.detail && <span className="truncate text-xs text-faint">{object.detail}</span>}
                    </Row>
                  ))}
                </Group>
              ))}
              {[...groups].map(([name, members]) => (
                <Group key={name} name={name}>
                  {members.map(({ id, name, keys, icon, run }) => (
                    <Row key={id} value={id} onSelect={choose(run)} icon={icon}>
                      <span className="flex-1 truncate">{name}</span>
                      {keys && formatKeys(keys).map((press) => <Kbd key={press}>{press}</Kbd>)}
                    </Row>
                  ))}
                </Group>
              ))}
            </Palettes.List>
          </Palettes>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Only the field takes the focus. */
function trapTab(event: KeyboardEvent) {
  if (event.key === 'Tab') event.preventDefault()
}

/** Whether every word of the text is in the command's name or group. */
function matches({ name, group = '' }: { name: string; group?: string }, text: string): boolean {
  const within = `${group} ${name}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word))
}

function Group({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Palettes.Group
      heading={name}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
    >
      {children}
    </Palettes.Group>
  )
}

type RowProps = { value: string; onSelect: () => void; icon: LucideIcon | undefined; children: ReactNode }

function Row({ value, onSelect, icon: Icon, children }: RowProps) {
  return (
    <Palettes.Item
      value={value}
      onSelect={onSelect}
      className="flex h-9 items-center gap-2.5 rounded-sm px-2 text-sm select-none data-[selected=true]:bg-hover max-md:h-11"
    >
      {Icon && <Icon size={16} strokeWidth={1.75} className="shrink-0 text-muted" aria-hidden />}
      {children}
    </Palettes.Item>
  )
}
