import { useLingui } from '@lingui/react/macro'
import type { AuditEntry } from './entry.ts'

/** Who did it: the name, or what kind of actor it was when the name is not known. */
export function ActorName({ actor }: { actor: AuditEntry['actor'] }) {
  const kind = useActorKind()(actor.kind)
  return <bdi>{actor.name ?? kind}</bdi>
}

export function useActorKind(): (kind: string) => string {
  const { t } = useLingui()
  const kinds: Record<string, string> = {
    key: t`API key`,
    user: t`Member`,
    app: t`App`,
    system: t`The server`,
    operator: t`The operator`,
  }
  return (kind) => kinds[kind] ?? kind
}
