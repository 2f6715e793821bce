import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useRouterState } from '@tanstack/react-router'
import type { ListedWorkspace } from '@tributary/contract/workspaces'
import { Menu as MenuIcon } from 'lucide-react'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../ui/menu.tsx'
import { Toaster } from '../ui/toast.tsx'
import { AccountMenu } from './account-menu.tsx'
import { ConnectionNotice } from './connection-notice.tsx'
import { Everywhere } from './everywhere.tsx'
import { FindButton } from './find-button.tsx'
import { Loading } from './loading.tsx'
import { BarLinks, barItem, DestinationLink, furtherDestinations, SideNavigation } from './navigation.tsx'
import { useAppearance } from './preferences.ts'
import { Removed } from './removed.tsx'
import { workspacesQuery } from './session.ts'
import { Shortcuts } from './shortcuts.tsx'
import { WorkspaceContext } from './workspace.ts'
import { WorkspaceSwitch } from './workspace-switch.tsx'

const membershipCheckMs = 5_000

/** The frame around every page of a workspace. It notices when the person's role changes or the membership ends. */
export function Shell({ workspace }: { workspace: ListedWorkspace }) {
  const { data: workspaces } = useQuery({ ...workspacesQuery, refetchInterval: membershipCheckMs })
  const current = workspaces ? workspaces.find(({ id }) => id === workspace.id) : workspace
  if (!current) return <Removed name={workspace.name} />
  return (
    <WorkspaceContext value={current}>
      <Frame />
    </WorkspaceContext>
  )
}

function Frame() {
  useAppearance()
  return (
    <>
      <a
        href="#main"
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-md bg-raised px-3 py-1.5 focus:translate-y-0"
      >
        <Trans>Skip to content</Trans>
      </a>
      <Progress />
      <div className="min-h-dvh md:grid md:grid-cols-[216px_minmax(0,1fr)]">
        <aside className="sticky top-0 hidden h-dvh flex-col gap-2.5 overflow-y-auto border-r px-2 py-3 md:flex">
          <WorkspaceSwitch />
          <FindButton />
          <SideNavigation />
          <div className="mt-auto pt-3">
            <AccountMenu />
          </div>
        </aside>
        <TopBar />
        <main id="main" tabIndex={-1} className="min-w-0 pb-16 outline-none focus-visible:shadow-none md:pb-0">
          <ConnectionNotice />
          <Outlet />
        </main>
        <BottomBar />
      </div>
      <Everywhere />
      <Shortcuts />
      <Toaster />
    </>
  )
}

/** A line at the top while the next page loads. */
function Progress() {
  const isLoading = useRouterState({ select: ({ isLoading }) => isLoading })
  return isLoading && <div className="fixed inset-x-0 top-0 z-40">{<Loading />}</div>
}

function TopBar() {
  return (
    <header className="flex items-center gap-1 border-b px-2 py-1 md:hidden">
      <div className="mr-auto min-w-0">
        <WorkspaceSwitch />
      </div>
      <FindButton />
      <AccountMenu />
    </header>
  )
}

function BottomBar() {
  const { t } = useLingui()
  return (
    <nav
      aria-label={t`Main`}
      className="fixed inset-x-0 bottom-0 z-30 flex border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      <BarLinks />
      <Menu>
        <MenuTrigger className={barItem}>
          <MenuIcon size={16} strokeWidth={1.75} aria-hidden />
          <Trans>More</Trans>
        </MenuTrigger>
        <MenuContent side="top" align="end">
          {furtherDestinations.map((name) => (
            <MenuItem key={name} asChild>
              <DestinationLink name={name} />
            </MenuItem>
          ))}
        </MenuContent>
      </Menu>
    </nav>
  )
}
