import { useLingui } from '@lingui/react/macro'
import { lazy, Suspense } from 'react'
import { useUndoable } from '../ui/toast.tsx'
import { useCommands } from './commands.ts'
import { loadMessages } from './languages.ts'

const LinksEverywhere = lazy(async () => {
  const [module] = await Promise.all([import('../features/links/everywhere.tsx'), loadMessages('links')])
  return { default: module.LinksEverywhere }
})

/** What works on every page of a workspace. Features add components with their drawers and commands here, lazily. */
export function Everywhere() {
  const { t } = useLingui()
  const undo = useUndoable()
  useCommands(undo ? [{ id: 'undo', name: t`Undo`, keys: '$mod+z', run: () => void undo() }] : [])
  return (
    <Suspense>
      <LinksEverywhere />
    </Suspense>
  )
}
