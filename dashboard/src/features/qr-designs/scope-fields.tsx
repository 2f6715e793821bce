import { Trans, useLingui } from '@lingui/react/macro'
import { Button } from '../../ui/button.tsx'
import { Choices } from '../../ui/choices.tsx'
import type { DesignTarget } from './designer-state.ts'
import type { Scope, ScopeId } from './scopes.ts'

type Props = {
  scopes: readonly Scope[]
  scopeId: ScopeId
  target: DesignTarget
  isStoring: boolean
  onScope(id: ScopeId): void
  onReset(): void
}

/** Whose design is changed, which one applies there and where it comes from. */
export function ScopeFields({ scopes, scopeId, target, isStoring, onScope, onReset }: Props) {
  const { t } = useLingui()
  const names: Record<ScopeId, string> = {
    link: t`This link`,
    domain: t`Links of ${target.domain}`,
    workspace: t`All links`,
  }
  const source = scopes.find(({ id }) => id === scopeId)?.source
  return (
    <div className="flex flex-col gap-2 border-b pb-4">
      {scopes.length > 1 && (
        <Choices
          label={<Trans>Design for</Trans>}
          value={scopeId}
          onChange={onScope}
          choices={scopes.map(({ id }) => ({ value: id, name: names[id] }))}
        />
      )}
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <p className="min-w-0 flex-1 wrap-anywhere">
          {source && <SourceText scopeId={scopeId} source={source} domain={target.domain} />}
        </p>
        {source === scopeId && (
          <Button size="small" disabled={isStoring} onClick={onReset}>
            {scopeId === 'workspace' ? <Trans>Use the default design</Trans> : <Trans>Use the inherited design</Trans>}
          </Button>
        )}
      </div>
    </div>
  )
}

type SourceProps = { scopeId: ScopeId; source: NonNullable<Scope['source']>; domain: string }

function SourceText({ scopeId, source, domain }: SourceProps) {
  if (source === 'link') return <Trans>This link has its own design.</Trans>
  if (scopeId === 'domain' && source === 'domain')
    return <Trans>Links of {domain} have this design, unless they have their own.</Trans>
  if (scopeId === 'workspace' && source === 'workspace')
    return <Trans>All links have this design, unless they or their domain have their own.</Trans>
  if (source === 'domain') return <Trans>The design of {domain} applies.</Trans>
  if (source === 'workspace') return <Trans>The design of the workspace applies.</Trans>
  return <Trans>The default design applies: black squares on white.</Trans>
}
