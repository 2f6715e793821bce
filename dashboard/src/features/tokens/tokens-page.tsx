import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useId, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { TokenRow } from './token-row.tsx'

const TokenDrawer = lazy(async () => ({ default: (await import('./token-drawer.tsx')).TokenDrawer }))

/** The API keys that the person may see. */
export function TokensPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const id = useId()
  const [isAll, setAll] = useState(false)
  const [isCreating, setCreating] = useState(false)
  const query = { pageSize: 100, ...(isAll && { showInactive: 'true' as const }) }
  const { data: tokens, error, refetch, isPlaceholderData } = useOperation('listTokens', { query })
  const canWrite = can('tokens.write')
  useCommands(canWrite ? [{ id: 'tokens.create', name: t`Create key`, keys: 'n', run: () => setCreating(true) }] : [])
  const create = canWrite && (
    <Button kind="first" onClick={() => setCreating(true)}>
      <Trans>Create key</Trans>
      <Kbd>N</Kbd>
    </Button>
  )
  return (
    <Section
      title={<Trans>Keys</Trans>}
      description={<Trans>Programs call the API with a key. Its scopes say what it may do.</Trans>}
      actions={create}
    >
      <span className="flex min-h-8 items-center gap-2.5 text-sm max-md:min-h-11">
        <Checkbox id={id} checked={isAll} onCheckedChange={setAll} />
        <label htmlFor={id} className="cursor-pointer">
          <Trans>Show revoked and expired</Trans>
        </label>
      </span>
      <Panel>
        {error && !tokens ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : !tokens ? (
          <RowsLoading />
        ) : tokens.length === 0 ? (
          <Message title={<Trans>No keys yet</Trans>} action={create}>
            <p>
              <Trans>
                Create one per program, with as few scopes as it needs. Then each can be replaced without the others.
              </Trans>
            </p>
          </Message>
        ) : (
          <ul aria-label={t`Keys`} className={isPlaceholderData ? 'opacity-60' : ''}>
            {tokens.map((token) => (
              <TokenRow key={token.id} token={token} />
            ))}
          </ul>
        )}
      </Panel>
      <Suspense>{isCreating && canWrite && <TokenDrawer onClose={() => setCreating(false)} />}</Suspense>
    </Section>
  )
}
