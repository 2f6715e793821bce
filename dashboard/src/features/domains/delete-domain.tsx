import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useChange, useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import { toast } from '../../ui/toast.tsx'
import { type Domain, useReadDomainsAgain } from './queries.ts'

type Props = { domain: Domain; onClose(): void; onDeleted?(): void }

/** Asks for the domain's name, and says how many links go with it. */
export function DeleteDomain({ domain: { slug }, onClose, onDeleted }: Props) {
  const { t } = useLingui()
  const { data: count } = useOperation('getLinksCount', { query: { domain: slug, showArchived: 'true' } })
  const remove = useChange('deleteDomain')
  const { slug: workspace } = useWorkspace()
  const client = useQueryClient()
  const readAgain = useReadDomainsAgain()
  const confirm = () =>
    remove.mutate(
      { params: { slug } },
      {
        onSuccess: () => {
          client.setQueriesData<Domain[]>({ queryKey: [workspace, 'listDomains'] }, (domains) =>
            domains?.filter((domain) => domain.slug !== slug),
          )
          toast({ title: t`Deleted ${slug}` })
          onClose()
          onDeleted?.()
          void readAgain()
        },
      },
    )
  return (
    <ConfirmName
      title={<Trans>Delete {slug}</Trans>}
      name={slug}
      action={<Trans>Delete domain</Trans>}
      isBusy={remove.isPending}
      error={remove.error?.message}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p role="status">
        {count === undefined ? (
          <Trans>Counting the links on this domain …</Trans>
        ) : count === 0 ? (
          <Trans>The domain has no links.</Trans>
        ) : (
          <Plural
            value={count}
            one="# link on this domain is deleted with it, and stops redirecting at once."
            other="# links on this domain are deleted with it, and stop redirecting at once."
          />
        )}
      </p>
      <p>
        <Trans>Counted clicks remain. This can’t be undone; to hide a domain, archive it.</Trans>
      </p>
    </ConfirmName>
  )
}
