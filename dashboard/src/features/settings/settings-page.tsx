import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import type { Scope } from '@tributary/contract/permissions'
import { useEffect, useRef } from 'react'
import { useWorkspace } from '../../app/workspace.ts'
import { Page } from '../../ui/page.tsx'

/** The sections; those whose scope the person lacks are absent. */
const sections = [
  { path: 'general', name: msg`General`, scope: 'workspaces.read' },
  { path: 'members', name: msg`Members`, scope: 'workspaces.read' },
  { path: 'invites', name: msg`Invites`, scope: 'workspaces.read' },
  { path: 'roles', name: msg`Roles`, scope: 'preferences.read' },
  { path: 'keys', name: msg`Keys`, scope: 'tokens.read' },
  { path: 'tracking', name: msg`Tracking`, scope: 'workspaces.read' },
  { path: 'webhooks', name: msg`Webhooks`, scope: 'webhooks.read' },
  { path: 'shares', name: msg`Public pages`, scope: 'analytics.read' },
  { path: 'audit', name: msg`Audit log`, scope: 'audit.read' },
  { path: 'usage', name: msg`Usage`, scope: 'usage.read' },
  { path: 'account', name: msg`Account`, scope: 'preferences.read' },
  { path: 'notifications', name: msg`Notifications`, scope: 'preferences.read' },
] as const satisfies { path: string; name: MessageDescriptor; scope: Scope }[]

/** A list of sections at the side of a wide screen and above the content of a small one. */
export function SettingsPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const nav = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another section is current
  useEffect(() => {
    nav.current?.querySelector('[aria-current=page]')?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [pathname])
  return (
    <Page title={<Trans>Settings</Trans>}>
      <div className="flex gap-8 max-lg:flex-col max-lg:gap-4">
        <nav
          ref={nav}
          aria-label={t`Settings`}
          className="flex shrink-0 gap-0.5 max-lg:-mx-1 max-lg:overflow-x-auto max-lg:border-b max-lg:p-1 lg:w-36 lg:flex-col"
        >
          {sections
            .filter(({ scope }) => can(scope))
            .map(({ path, name }) => (
              <Link
                key={path}
                from="/$workspace"
                to={`/$workspace/settings/${path}`}
                className="flex h-8 shrink-0 items-center rounded-md px-2.5 text-sm text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink max-md:h-11"
              >
                {t(name)}
              </Link>
            ))}
        </nav>
        <div className="min-w-0 flex-1">
          <Outlet />
        </div>
      </div>
    </Page>
  )
}
