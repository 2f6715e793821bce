import { useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import type { OperationAnswer, OperationInput } from '@tributary/contract/client'
import type { Role } from '@tributary/contract/permissions'
import { useState } from 'react'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { toast } from '../../ui/toast.tsx'
import { roleNames } from '../permissions/role-names.ts'

export type Member = OperationAnswer<'listMembers'>[number]
type Patch = NonNullable<OperationInput<'updateMember'>['body']>

/** What can be done with a member; the last refusal stays until the next change. */
export function useMemberChanges() {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const [error, setError] = useState<unknown>()
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    setError(undefined)
    try {
      await work()
      return true
    } catch (error) {
      setError(error)
      return false
    } finally {
      await client.invalidateQueries({ queryKey: [slug, 'listMembers'] })
    }
  }
  const patch = ({ userId }: Member, body: Patch) =>
    attempt(() => call('updateMember', { params: { userId }, body }, slug))
  const setRole = async (member: Member, role: Role) => {
    if (!(await patch(member, { role }))) return
    const name = t(roleNames[role])
    toast({
      title: t`${displayName(member)} has the role ${name}`,
      undo: () => patch(member, { role: member.role }),
    })
  }
  const setFolders = (member: Member, folders: Member['folders']) => patch(member, { folders })
  const remove = async (member: Member) => {
    const isDone = await attempt(() => call('removeMember', { params: { userId: member.userId } }, slug))
    if (isDone) toast({ title: t`${displayName(member)} is no longer a member` })
    return isDone
  }
  return { setRole, setFolders, remove, error }
}

export type MemberChanges = ReturnType<typeof useMemberChanges>

export function displayName({ name, email }: Pick<Member, 'name' | 'email'>): string {
  return name || email
}
