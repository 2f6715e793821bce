import type { LucideIcon } from 'lucide-react'
import { useEffect, useRef, useSyncExternalStore } from 'react'

/** An action that the palette lists, and that its keys start from anywhere on the page. */
export type Command = {
  id: string
  name: string
  /** Heading in the palette and in the list of shortcuts. */
  group?: string
  /** As tinykeys writes them: `c`, `g l`, `$mod+Enter`, `[Shift]+?`. */
  keys?: string
  icon?: LucideIcon
  /** Whether the palette leaves it out, because it needs the spot where the keyboard is, such as `J` for the next row. */
  isOnlyKey?: boolean
  /** Whether the palette lists it after everything else. */
  isSetting?: boolean
  run(): void
}

let registered: ReadonlyMap<symbol, readonly Command[]> = new Map()
let all: readonly Command[] = []
const changed = new EventTarget()

/** Offers commands while the component is on the page. Later components win when two claim the same keys. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands)
  latest.current = commands
  const identity = JSON.stringify(commands.map(({ id, name, group, keys }) => [id, name, group, keys]))
  // biome-ignore lint/correctness/useExhaustiveDependencies: `identity` stands for what others see of the commands
  useEffect(() => {
    const own = Symbol('commands')
    const run = (id: string) => latest.current.find((command) => command.id === id)?.run()
    register(
      own,
      latest.current.map((command) => ({ ...command, run: () => run(command.id) })),
    )
    return () => register(own, undefined)
  }, [identity])
}

/** All commands of the page, one per id and one per keys: the one that came last. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(subscribe, () => all)
}

function register(own: symbol, commands: readonly Command[] | undefined): void {
  const next = new Map(registered)
  if (commands) next.set(own, commands)
  else next.delete(own)
  registered = next
  const byId = new Map([...next.values()].flat().map((command) => [command.id, command]))
  const byKeys = new Map([...byId.values()].map((command) => [command.keys ?? command.id, command]))
  all = [...byId.values()].map((command) =>
    byKeys.get(command.keys ?? command.id) === command ? command : { ...command, keys: undefined },
  )
  changed.dispatchEvent(new Event('change'))
}

function subscribe(listener: () => void): () => void {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}
