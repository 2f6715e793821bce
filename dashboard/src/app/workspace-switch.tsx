import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { ChevronsUpDown } from 'lucide-react'
import { Menu, MenuChoice, MenuChoices, MenuContent, MenuItem, MenuLabel, MenuLine, MenuTrigger } from '../ui/menu.tsx'
import { workspacesQuery } from './session.ts'
import { useWorkspace } from './workspace.ts'

/** The name of the workspace; opens the list of all that the person is a member of. */
export function WorkspaceSwitch() {
  const current = useWorkspace()
  const { data: workspaces = [] } = useQuery(workspacesQuery)
  const navigate = useNavigate()
  return (
    <Menu>
      <MenuTrigger className="flex min-h-9 min-w-0 items-center gap-2 rounded-md px-2 text-left font-semibold hover:bg-hover max-md:min-h-11">
        <Mark name={current.name} />
        <span className="min-w-0 flex-1 truncate">{current.name}</span>
        <ChevronsUpDown size={14} className="shrink-0 text-faint" aria-hidden />
        <span className="sr-only">
          <Trans>Switch workspace</Trans>
        </span>
      </MenuTrigger>
      <MenuContent align="start">
        <MenuLabel>
          <Trans>Workspaces</Trans>
        </MenuLabel>
        <MenuChoices
          value={current.slug}
          onValueChange={(workspace) => void navigate({ to: '/$workspace', params: { workspace } })}
        >
          {workspaces.map(({ id, slug, name }) => (
            <MenuChoice key={id} value={slug}>
              <Mark name={name} />
              <span className="max-w-60 truncate">{name}</span>
            </MenuChoice>
          ))}
        </MenuChoices>
        <MenuLine />
        <MenuItem asChild>
          <Link to="/new">
            <Trans>Create workspace</Trans>
          </Link>
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}

function Mark({ name }: { name: string }) {
  const [first = '?'] = name.trim()
  return (
    <span
      aria-hidden
      className="grid size-5.5 shrink-0 place-items-center rounded-sm bg-accent text-xs font-semibold text-on-accent"
    >
      {first.toUpperCase()}
    </span>
  )
}
