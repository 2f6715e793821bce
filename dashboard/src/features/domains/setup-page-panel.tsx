import { Trans, useLingui } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Time } from '../../ui/figures.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'

/** Creates a public page with the records for a colleague who manages the DNS, and ends it. */
export function SetupPagePanel({ slug }: { slug: string }) {
  const { t } = useLingui()
  const { timeZone } = useWorkspaceSettings()
  const create = useChange('createDomainSetupPage')
  const end = useChange('deleteDomainSetupPage')
  const page = create.data
  const params = { slug }
  const finish = () => {
    create.reset()
    toast({ title: t`The page for ${slug} has ended` })
  }
  return (
    <Panel className="flex flex-col gap-3 p-4 text-sm">
      <h2>
        <Trans>Does a colleague manage your DNS?</Trans>
      </h2>
      <p className="text-muted">
        <Trans>Send a page that shows these records and what is found now. It needs no account.</Trans>
      </p>
      {page && (
        <>
          <p className="flex items-center gap-1 rounded-md border bg-canvas py-1 pr-1 pl-2.5">
            <a
              href={page.url}
              target="_blank"
              rel="noreferrer noopener"
              className="min-w-0 flex-1 truncate underline hover:text-ink"
            >
              {page.url}
            </a>
            <CopyButton text={page.url} label={t`Copy the link of the page`} />
          </p>
          <p className="text-xs text-muted">
            <Trans>
              Works until <Time at={page.expiresAt} timeZone={timeZone} isDay />. It is shown only now: copy it.
            </Trans>
          </p>
        </>
      )}
      {(create.error || end.error) && <Notice>{(create.error ?? end.error)?.message}</Notice>}
      <div className="flex flex-wrap gap-2">
        <Button disabled={create.isPending} onClick={() => create.mutate({ params })}>
          {page ? <Trans>Replace link</Trans> : <Trans>Create link</Trans>}
        </Button>
        <Button kind="quiet" disabled={end.isPending} onClick={() => end.mutate({ params }, { onSuccess: finish })}>
          <Trans>End former link</Trans>
        </Button>
      </div>
    </Panel>
  )
}
