import { Trans, useLingui } from '@lingui/react/macro'
import { ArrowUpRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Time } from '../../ui/figures.tsx'
import { State } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { useShareActions } from './share-actions.ts'
import { isEnded, lastMoment, type Share } from './share-values.ts'

type Props = {
  share: Share
  /** What the page is of, where that is not clear already. */
  name?: ReactNode
  canWrite: boolean
  onEdit(): void
  onDelete(): void
}

/** One public page: its address, who can open it until when, and what can be done with it. */
export function ShareRow({ share, name, canWrite, onEdit, onDelete }: Props) {
  const { t } = useLingui()
  const { timeZone } = useWorkspaceSettings()
  const { stop, resume } = useShareActions(share)
  const hasEnded = isEnded(share)
  const title = share.title ?? share.name
  return (
    <li className="flex flex-col gap-2 border-b px-4 py-3 text-sm last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-40 flex-1">
          <bdi className="block truncate font-medium">{share.title ?? <Trans>Without a title</Trans>}</bdi>
          {name && <bdi className="block truncate text-xs text-muted">{name}</bdi>}
        </span>
        <span className="flex flex-wrap gap-x-3 text-xs text-muted">
          <State kind={hasEnded ? 'none' : 'good'}>
            {hasEnded ? (
              <Trans>Ended</Trans>
            ) : share.endsAt ? (
              <Trans>
                Until <Time at={lastMoment(share.endsAt)} timeZone={timeZone} isDay />
              </Trans>
            ) : (
              <Trans>Public</Trans>
            )}
          </State>
          {share.hasPassword && (
            <span>
              <Trans>With password</Trans>
            </span>
          )}
          {share.showConversions && (
            <span>
              <Trans>With leads and sales</Trans>
            </span>
          )}
        </span>
      </div>
      {!hasEnded && (
        <p className="flex items-center gap-1 rounded-md border bg-canvas py-1 pr-1 pl-2.5">
          <span className="min-w-0 flex-1 truncate font-mono text-xs">{share.url}</span>
          <CopyButton text={share.url} label={t`Copy the address of ${title}`} />
          <Button asChild kind="quiet" size="icon" className="size-7!">
            <a
              href={share.url}
              target="_blank"
              rel="noreferrer noopener"
              aria-label={t`Open ${title} as a visitor`}
              title={t`Open as a visitor`}
            >
              <ArrowUpRight size={14} aria-hidden />
            </a>
          </Button>
        </p>
      )}
      {canWrite && (
        <div className="flex flex-wrap gap-2">
          <Button size="small" onClick={onEdit} aria-label={t`Edit page: ${title}`}>
            <Trans>Edit page</Trans>
          </Button>
          {hasEnded ? (
            <>
              <Button size="small" onClick={() => void resume()} aria-label={t`Share again: ${title}`}>
                <Trans>Share again</Trans>
              </Button>
              <Button size="small" kind="harm" onClick={onDelete} aria-label={t`Delete page: ${title}`}>
                <Trans>Delete page</Trans>
              </Button>
            </>
          ) : (
            <Button size="small" kind="harm" onClick={() => void stop()} aria-label={t`Stop sharing ${title}`}>
              <Trans>Stop sharing</Trans>
            </Button>
          )}
        </div>
      )}
    </li>
  )
}
