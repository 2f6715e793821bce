import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { Activity, ChartColumn, Globe, Handshake, House, Link2, type LucideIcon, Settings, Users } from 'lucide-react'
import type { ComponentProps } from 'react'

type Destination = { path: string; name: MessageDescriptor; icon: LucideIcon; key: string }

/** Where the navigation leads, below the workspace; `key` follows G on the keyboard. */
export const destinations = {
  home: { path: '', name: msg`Home`, icon: House, key: 'H' },
  links: { path: '/links', name: msg`Links`, icon: Link2, key: 'L' },
  analytics: { path: '/analytics', name: msg`Analytics`, icon: ChartColumn, key: 'A' },
  events: { path: '/events', name: msg`Events`, icon: Activity, key: 'E' },
  customers: { path: '/customers', name: msg`Customers`, icon: Users, key: 'C' },
  partners: { path: '/partners', name: msg`Partners`, icon: Handshake, key: 'P' },
  domains: { path: '/domains', name: msg`Domains`, icon: Globe, key: 'D' },
  settings: { path: '/settings', name: msg`Settings`, icon: Settings, key: 'S' },
} as const satisfies Record<string, Destination>

export type DestinationName = keyof typeof destinations

const groups: { name?: MessageDescriptor; members: DestinationName[] }[] = [
  { members: ['home', 'links', 'analytics', 'events', 'customers'] },
  { name: msg`Program`, members: ['partners'] },
  { name: msg`Workspace`, members: ['domains', 'settings'] },
]

/** The list at the side of a wide screen. */
export function SideNavigation() {
  const { t } = useLingui()
  return (
    <nav aria-label={t`Main`} className="flex flex-col gap-0.5">
      {groups.map(({ name, members }) => (
        <div key={members[0]} className="flex flex-col gap-0.5">
          {name && <p className="px-2 pt-3.5 pb-1 text-xs font-medium text-faint">{t(name)}</p>}
          {members.map((member) => (
            <DestinationLink
              key={member}
              name={member}
              className="flex h-8 items-center gap-2.5 rounded-md px-2 text-sm text-muted transition-colors hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink"
            />
          ))}
        </div>
      ))}
    </nav>
  )
}

const barMembers: DestinationName[] = ['home', 'links', 'analytics', 'events']

/** Links of the bar at the bottom of a small screen; `More` comes after them. */
export function BarLinks() {
  return barMembers.map((member) => <DestinationLink key={member} name={member} className={barItem} />)
}

export const barItem =
  'flex min-h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs text-muted aria-[current=page]:font-medium aria-[current=page]:text-accent'

/** The destinations that the bar at the bottom has no room for. */
export const furtherDestinations = (Object.keys(destinations) as DestinationName[]).filter(
  (name) => !barMembers.includes(name),
)

/** A link of the navigation; a menu hands its own properties down. */
export function DestinationLink({ name, ...rest }: { name: DestinationName } & ComponentProps<'a'>) {
  const { t } = useLingui()
  const { path, icon: Icon, name: label } = destinations[name]
  return (
    <Link to={`/$workspace${path}`} from="/$workspace" activeOptions={{ exact: name === 'home' }} {...rest}>
      <Icon size={16} strokeWidth={1.75} aria-hidden />
      {t(label)}
    </Link>
  )
}
