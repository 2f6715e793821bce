import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { SetupStep } from '@tributary/contract/setup-steps'
import type { ReactNode } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { openBuilder } from '../links/builder-state.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { type ExampleValues, leadCall, linkCall, saleCall, scriptTag } from './examples.ts'

export type StepName = SetupStep['step']

/** What a step is for, and the action or the example that brings it about. */
export function StepDetails({ step, isDone }: { step: StepName; isDone: boolean }) {
  const details: Record<StepName, () => ReactNode> = {
    domain: () => <DomainStep />,
    link: () => <LinkStep isDone={isDone} />,
    script: () => <ScriptStep />,
    lead: () => <LeadStep />,
    sale: () => <SaleStep />,
  }
  return details[step]()
}

function DomainStep() {
  const { can } = useWorkspace()
  return (
    <>
      <Explanation>
        <Trans>
          A domain of your own, such as go.example.com, makes short links recognizable as yours. Links work without it,
          on the domain of this installation.
        </Trans>
      </Explanation>
      {can('domains.write') && (
        <Button asChild kind="first">
          <Link from="/$workspace" to="/$workspace/domains">
            <Trans>Add domain</Trans>
          </Link>
        </Button>
      )}
    </>
  )
}

function LinkStep({ isDone }: { isDone: boolean }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const values = useExampleValues()
  return (
    <>
      <Explanation>
        <Trans>
          A link with “Track leads and sales” adds a click id to the address of your page. By it a lead or a sale finds
          its link.
        </Trans>
      </Explanation>
      {can('links.write') && (
        <>
          <Button kind={isDone ? 'plain' : 'first'} onClick={() => openBuilder({ isTracked: true })}>
            <Trans>Create link</Trans>
          </Button>
          <Example>
            <p className="text-sm text-muted">
              <Trans>Or by the API:</Trans>
            </p>
            <CodeBlock label={t`Call that creates a link`} code={linkCall(values)} />
          </Example>
        </>
      )}
    </>
  )
}

function ScriptStep() {
  const { t } = useLingui()
  const values = useExampleValues()
  return (
    <>
      <Explanation>
        <Trans>
          Put this tag on every page that links lead to. The script stores the click id in a cookie, so that your server
          gets it when the visitor signs up.
        </Trans>
      </Explanation>
      <Example>
        <CodeBlock label={t`Script tag`} code={scriptTag(values)} />
      </Example>
      <Explanation>
        <Trans>
          The step is done when a page reports a click, or at the latest when your server reports a lead with a click
          id.
        </Trans>
      </Explanation>
    </>
  )
}

function LeadStep() {
  const { t } = useLingui()
  const values = useExampleValues()
  return (
    <>
      <Explanation>
        <Trans>
          When a visitor signs up, your server sends the click id from the cookie and your own id of the customer.
        </Trans>
      </Explanation>
      <Example>
        <CodeBlock label={t`Call that reports a lead`} code={leadCall(values)} />
      </Example>
      <KeyNote prefix={values.keyPrefix} />
    </>
  )
}

function SaleStep() {
  const { t } = useLingui()
  const { currency } = useWorkspaceSettings()
  const values = useExampleValues()
  return (
    <>
      <Explanation>
        <Trans>When the customer pays, your server sends the amount in cents. Your id of the customer is enough.</Trans>
      </Explanation>
      <Example>
        <CodeBlock label={t`Call that reports a sale`} code={saleCall(values, currency)} />
      </Example>
      <KeyNote prefix={values.keyPrefix} />
    </>
  )
}

/** Which key the examples mean; the server has only its hash, so nobody can show it again. */
function KeyNote({ prefix }: { prefix: string | undefined }) {
  const { can } = useWorkspace()
  if (prefix) {
    return (
      <Explanation>
        <Trans>
          Insert your API key that begins with <code className="font-mono text-xs">{prefix}</code>.
        </Trans>
      </Explanation>
    )
  }
  return (
    <>
      <Explanation>
        <Trans>The workspace has no API key yet.</Trans>
      </Explanation>
      {can('tokens.write') && (
        <Button asChild>
          <Link from="/$workspace" to="/$workspace/settings/keys">
            <Trans>Create API key</Trans>
          </Link>
        </Button>
      )}
    </>
  )
}

function useExampleValues(): ExampleValues {
  const { can } = useWorkspace()
  const { data: domains = [] } = useOperation(
    'listDomains',
    { query: { pageSize: 100 } },
    { enabled: can('domains.read') },
  )
  const { data: tokens = [] } = useOperation('listTokens', { query: { pageSize: 50 } }, { enabled: can('tokens.read') })
  const domain = domains.find(({ primary }) => primary) ?? domains[0]
  const token = tokens.find(({ kind }) => kind !== 'publishable')
  return { origin: location.origin, domain: domain?.slug ?? '', slug: 'first', keyPrefix: token?.prefix }
}

function Explanation({ children }: { children: ReactNode }) {
  return <p className="max-w-160 text-sm text-muted">{children}</p>
}

function Example({ children }: { children: ReactNode }) {
  return <div className="flex w-full max-w-200 min-w-0 flex-col gap-1.5">{children}</div>
}
