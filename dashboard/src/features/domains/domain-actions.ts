import { useLingui } from '@lingui/react/macro'
import type { OperationInput } from '@tributary/contract/client'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { type Domain, useReadDomainsAgain } from './queries.ts'

type Patch = NonNullable<OperationInput<'updateDomain'>['body']>

/** What can be done with a domain at once; archiving has Undo. */
export function useDomainActions() {
  const { t } = useLingui()
  const { slug: workspace } = useWorkspace()
  const readAgain = useReadDomainsAgain()
  const patch = async ({ slug }: Domain, body: Patch): Promise<boolean> => {
    try {
      await call('updateDomain', { params: { slug }, body }, workspace)
      return true
    } catch (error) {
      toastError(error)
      return false
    } finally {
      await readAgain()
    }
  }
  const archive = async (domain: Domain, archived: boolean) => {
    if (!(await patch(domain, { archived }))) return
    const title = archived ? t`Archived ${domain.slug}` : t`Unarchived ${domain.slug}`
    toast({ title, undo: () => patch(domain, { archived: !archived }) })
  }
  const makeDefault = async (domain: Domain) => {
    if (await patch(domain, { primary: true })) toast({ title: t`New links are on ${domain.slug}` })
  }
  return { archive, makeDefault }
}
