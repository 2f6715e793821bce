import { Trans, useLingui } from '@lingui/react/macro'
import { type Role, roleScopes, roles } from '@tributary/contract/permissions'
import { Check, Eye, Minus } from 'lucide-react'
import { useWorkspace } from '../../app/workspace.ts'
import { Panel } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { areaNames } from './area-names.ts'
import { type AreaAccess, areaAccess, areas } from './areas.ts'
import { roleNames } from './role-names.ts'

/** What each role may do. */
export function RolesPage() {
  const { t } = useLingui()
  const { role: own } = useWorkspace()
  return (
    <Section
      title={<Trans>Roles</Trans>}
      description={
        <Trans>What each role may read or change. Folders can have narrower access, also for single members.</Trans>
      }
    >
      <Panel>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section aria-label={t`Roles`} tabIndex={0} className="relative overflow-x-auto rounded-lg">
          <table aria-label={t`Roles`} className="w-full min-w-160 text-sm">
            <thead>
              <tr className="border-b">
                <th scope="col" className="h-9 px-3 text-left font-normal text-muted">
                  <Trans>May</Trans>
                </th>
                {roles.map((role) => (
                  <th key={role} scope="col" className="w-26 px-3 text-left font-medium">
                    {t(roleNames[role])}
                    {role === own && (
                      <span className="font-normal text-muted">
                        {' '}
                        <Trans>(you)</Trans>
                      </span>
                    )}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {areas.map((area) => (
                <tr key={area} className="border-b">
                  <th scope="row" className="h-9 px-3 text-left font-normal">
                    {t(areaNames[area])}
                  </th>
                  {roles.map((role) => (
                    <td key={role} className="px-3">
                      <AccessWord
                        access={areaAccess(roleScopes[role], area)}
                        isOwn={area === 'tokens' && role === 'member'}
                      />
                    </td>
                  ))}
                </tr>
              ))}
              <OwnersRow />
            </tbody>
          </table>
        </section>
      </Panel>
    </Section>
  )
}

function AccessWord({ access, isOwn }: { access: AreaAccess; isOwn: boolean }) {
  const icon = { size: 14, strokeWidth: 1.75, 'aria-hidden': true, className: 'shrink-0' }
  if (access === 'none')
    return (
      <span className="text-faint">
        <Minus {...icon} />
        <span className="sr-only">
          <Trans>nothing</Trans>
        </span>
      </span>
    )
  return (
    <span className={`flex items-center gap-1.5 ${access === 'read' ? 'text-muted' : ''}`}>
      {access === 'write' ? <Check {...icon} /> : <Eye {...icon} />}
      {access === 'read' ? <Trans>read</Trans> : isOwn ? <Trans>own</Trans> : <Trans>change</Trans>}
    </span>
  )
}

/** What no scope grants: only owners do it. */
function OwnersRow() {
  const isOwner = (role: Role) => role === 'owner'
  return (
    <tr>
      <th scope="row" className="h-9 px-3 text-left font-normal">
        <Trans>Owners, transfer and deletion</Trans>
      </th>
      {roles.map((role) => (
        <td key={role} className="px-3">
          <AccessWord access={isOwner(role) ? 'write' : 'none'} isOwn={false} />
        </td>
      ))}
    </tr>
  )
}
