import { Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { ApiError } from '@tributary/contract/client'
import { ErrorMessage } from '../../app/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/figures.tsx'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { State } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { useErasure } from './queries.ts'

/** A customer that is gone: how far its erasure is, or that there was none. */
export function ErasedCustomer({ id }: { id: string }) {
  const { t } = useLingui()
  const { timeZone } = useWorkspaceSettings()
  const { data: erasure, error, refetch } = useErasure(id)
  if (error instanceof ApiError && error.status === 404) return <NoSuchCustomer />
  if (error && !erasure) return <ErrorMessage scope="page" error={error} retry={() => void refetch()} />
  const names: Record<string, string> = {
    events: t`clicks, leads and sales`,
    commissions: t`commissions`,
    webhookEvents: t`webhook events`,
  }
  const left = erasure?.left.map((part) => names[part] ?? part).join(', ')
  return (
    <Page title={<Trans>Erased customer</Trans>}>
      <AllCustomers />
      <Panel className="max-w-180">
        {!erasure ? (
          <RowsLoading />
        ) : (
          <div className="flex flex-col gap-3 p-4">
            <p role="status">
              <State kind={erasure.status === 'erased' ? 'good' : 'waiting'}>
                {erasure.status === 'erased' ? <Trans>Erased</Trans> : <Trans>Erasing</Trans>}
              </State>
            </p>
            <p className="text-sm">
              {erasure.status === 'erased' ? (
                <Trans>
                  Nothing about this person is stored any more. Counts and amounts stay, without a name. Backups made
                  before still have the data until they expire.
                </Trans>
              ) : (
                <Trans>
                  Name, e-mail address and ids are erased. Workers erase the rest, usually within seconds: {left}. You
                  can leave this page.
                </Trans>
              )}
            </p>
            <p className="text-sm text-muted">
              <Trans>
                Requested <Time at={erasure.requestedAt} timeZone={timeZone} />
              </Trans>{' '}
              · <code className="font-mono text-xs wrap-anywhere">{id}</code>
            </p>
          </div>
        )}
      </Panel>
    </Page>
  )
}

function AllCustomers() {
  return (
    <p className="mb-4 text-sm text-muted">
      <RouteLink from="/$workspace" to="/$workspace/customers" className="underline hover:text-ink">
        <Trans>All customers</Trans>
      </RouteLink>
    </p>
  )
}

function NoSuchCustomer() {
  return (
    <Message
      scope="page"
      title={<Trans>This workspace has no such customer</Trans>}
      action={
        <Button asChild>
          <RouteLink from="/$workspace" to="/$workspace/customers">
            <Trans>All customers</Trans>
          </RouteLink>
        </Button>
      }
    >
      <p>
        <Trans>The address is wrong, or the customer belongs to another workspace.</Trans>
      </p>
    </Message>
  )
}
