import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useRouter } from '@tanstack/react-router'
import { Keyboard, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { tinykeys } from 'tinykeys'
import { type Command, useAllCommands, useCommands } from './commands.ts'
import { type DestinationName, destinations } from './navigation.tsx'
import { useWorkspace } from './workspace.ts'

const loadPalette = () => import('./palette.tsx')
const loadHelp = () => import('./shortcut-help.tsx')
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }))
const ShortcutHelp = lazy(async () => ({ default: (await loadHelp()).ShortcutHelp }))

const goTo = msg`Go to`

/** The palette, the list of shortcuts, and the keys of all commands. */
export function Shortcuts() {
  const { t } = useLingui()
  const [open, setOpen] = useState<'palette' | 'help'>()
  const close = () => setOpen(undefined)
  const { slug } = useWorkspace()
  const { history } = useRouter()
  useCommands([
    {
      id: 'palette',
      name: t`Find anything`,
      keys: '$mod+k',
      isOnlyKey: true,
      icon: Search,
      run: () => setOpen('palette'),
    },
    {
      id: 'shortcuts',
      name: t`Show keyboard shortcuts`,
      keys: '[Shift]+?',
      icon: Keyboard,
      run: () => setOpen('help'),
    },
    ...Object.entries(destinations).map(([name, { name: label, icon, key, path }]) => ({
      id: `go.${name as DestinationName}`,
      name: t(label),
      group: t(goTo),
      keys: `g ${key.toLowerCase()}`,
      icon,
      run: () => history.push(`/app/${slug}${path}`),
    })),
  ])
  useKeys(useAllCommands(), open !== undefined)
  useEffect(() => {
    // Loaded while nothing else happens, so that the palette opens at once.
    const timer = setTimeout(() => void loadPalette().catch(() => {}), 1_500)
    return () => clearTimeout(timer)
  }, [])
  return (
    <Suspense>
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'help' && <ShortcutHelp onClose={close} />}
    </Suspense>
  )
}

/** Binds the keys of commands; plain letters only where nothing is being typed and no dialog is open. */
function useKeys(commands: readonly Command[], isDialogOpen: boolean): void {
  useEffect(() => {
    const bound = commands.flatMap(({ keys, run }) => (keys ? [{ keys, run }] : []))
    const bind = (isWithModifier: boolean, ignore: (event: KeyboardEvent) => boolean) => {
      const chosen = bound.filter(({ keys }) => keys.includes('$mod') === isWithModifier)
      const start = (run: () => void) => (event: KeyboardEvent) => {
        event.preventDefault()
        run()
      }
      return tinykeys(window, Object.fromEntries(chosen.map(({ keys, run }) => [keys, start(run)])), { ignore })
    }
    const unbind = [
      bind(true, () => isDialogOpen),
      bind(false, (event) => isDialogOpen || isTyping(event) || isPressing(event) || isInOverlay(event)),
    ]
    return () => {
      for (const end of unbind) end()
    }
  }, [commands, isDialogOpen])
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'))
  )
}

/** Whether Space presses what has the focus. */
function isPressing({ key, target }: KeyboardEvent): boolean {
  return key === ' ' && target instanceof Element && target.closest('a, button, summary, [role=tab]') !== null
}

function isInOverlay({ target }: KeyboardEvent): boolean {
  return (
    target instanceof Element &&
    target.closest('[role=dialog], [role=alertdialog], [role=menu], [role=listbox]') !== null
  )
}
