import { Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useUser } from '../../app/user.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { Refusal } from '../settings/refusal.tsx'
import { useMemberChanges } from './member-changes.ts'
import { MemberRow } from './member-row.tsx'

/** The people of the workspace, with their roles. */
export function MembersPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const user = useUser()
  const { data: members, error, refetch, isPlaceholderData } = useOperation('listMembers', { query: { pageSize: 100 } })
  const changes = useMemberChanges()
  return (
    <Section
      title={<Trans>Members</Trans>}
      description={<Trans>People who sign in to this workspace. A new role counts within a second.</Trans>}
      actions={
        can('workspaces.write') && (
          <Button kind="first" asChild>
            <RouteLink from="/$workspace" to="/$workspace/settings/invites">
              <Trans>Invite people</Trans>
            </RouteLink>
          </Button>
        )
      }
    >
      <Refusal error={changes.error} />
      <Panel>
        {error && !members ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : !members ? (
          <RowsLoading />
        ) : (
          <ul aria-label={t`Members`} className={isPlaceholderData ? 'opacity-60' : ''}>
            {members.map((member) => (
              <MemberRow
                key={member.userId}
                member={member}
                isSelf={member.userId === user?.id}
                isLastOwner={member.role === 'owner' && members.filter(({ role }) => role === 'owner').length === 1}
                changes={changes}
              />
            ))}
          </ul>
        )}
      </Panel>
    </Section>
  )
}
