import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useChange, useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/section.tsx'
import { scriptTag } from '../home/examples.ts'
import { Refusal } from '../settings/refusal.tsx'

/** The tag for every page; with a new publishable key, it has that key. */
export function ScriptPanel() {
  const { t } = useLingui()
  const { slug, role, can } = useWorkspace()
  const { data: workspace } = useOperation('getWorkspace', { params: { idOrSlug: slug } })
  const hosts = workspace?.allowedHostnames
  const { origin } = location
  const { data: tokens } = useOperation('listTokens', { query: { pageSize: 100 } }, { enabled: can('tokens.read') })
  const create = useChange('createToken', ['listTokens'])
  const key = create.data?.key
  const publishable = tokens?.filter(({ kind }) => kind === 'publishable') ?? []
  const isAdmin = role === 'owner' || role === 'admin'
  const createKey = () => create.mutate({ body: { name: t`Web pages`, kind: 'publishable', expiresAt: null } })
  return (
    <Section
      title={<Trans>Script</Trans>}
      description={
        <Trans>
          Put this tag on every page that links lead to. The script stores the click id in a cookie, so that your server
          gets it when the visitor signs up.
        </Trans>
      }
    >
      <div className="flex max-w-200 flex-col gap-3 text-sm">
        {key && (
          <Notice kind="plain">
            <Trans>
              The tag has the new publishable key now. Copy it: the key can’t be shown again. It is no secret, everyone
              can read it in your pages.
            </Trans>{' '}
            {hosts?.length === 0 && <Trans>It works as soon as you enter the hosts of your pages below.</Trans>}
          </Notice>
        )}
        <CodeBlock label={t`Script tag`} code={scriptTag({ origin }, key)} />
        <p className="text-muted">
          <Trans>
            With a content security policy, allow {origin} in script-src and connect-src. All settings of the script are
            in the{' '}
            <a href="/docs/guides/tracking" target="_blank" rel="noopener" className="underline hover:text-ink">
              guide
            </a>
            .
          </Trans>
        </p>
        <Refusal error={create.error} />
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <p className="min-w-60 flex-1 text-muted">
            {publishable.length > 0 ? (
              <Trans>
                Pages without a server send leads and sales with a publishable key. Yours:{' '}
                <code className="font-mono text-xs">
                  {publishable.map(({ prefix, lastFour }) => `${prefix}…${lastFour}`).join(', ')}
                </code>
              </Trans>
            ) : (
              <Trans>Pages without a server can send leads and sales themselves, with a publishable key.</Trans>
            )}
          </p>
          {isAdmin && !key && (
            <Button disabled={create.isPending} onClick={createKey}>
              <Trans>Create publishable key</Trans>
            </Button>
          )}
          {publishable.length > 0 && <KeysLink />}
        </div>
      </div>
    </Section>
  )
}

function KeysLink() {
  return (
    <Button asChild kind="quiet">
      <Link from="/$workspace" to="/$workspace/settings/keys">
        <Trans>All keys</Trans>
      </Link>
    </Button>
  )
}
