import { Trans, useLingui } from '@lingui/react/macro'
import type { Scope } from '@tributary/contract/permissions'
import { useWorkspace } from '../../app/workspace.ts'
import { Select } from '../../ui/select.tsx'
import { areaNames } from '../permissions/area-names.ts'
import { type Area, type AreaAccess, areas, possibleAccess } from '../permissions/areas.ts'
import { isWithin } from './tasks.ts'
import type { Token, TokenValues } from './token-values.ts'

type Props = { values: TokenValues; set(changed: Partial<TokenValues>): void; token?: Token; error?: string }

/** Access per area: what the person may grant, and for an existing key at most what it has. */
export function AccessFields({ values, set, token, error }: Props) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const words: Record<AreaAccess, string> = { none: t`nothing`, read: t`read`, write: t`change` }
  const isOffered = (area: Area, access: AreaAccess) => {
    if (access === 'none') return true
    const scope = `${area}.${access}` as Scope
    return token ? isWithin([scope], token.scopes) : can(scope)
  }
  const rows = areas
    .map((area) => ({ area, offered: possibleAccess(area).filter((access) => isOffered(area, access)) }))
    .filter(({ offered }) => offered.length > 1)
  return (
    <fieldset>
      <legend className="mb-1 text-xs text-muted">
        {token ? <Trans>May (can only become less)</Trans> : <Trans>May</Trans>}
      </legend>
      {error && (
        <p role="alert" className="mb-1 text-xs text-harm">
          {error}
        </p>
      )}
      <ul className="rounded-md border text-sm">
        {rows.map(({ area, offered }) => (
          <li key={area} className="flex items-center gap-3 border-b px-2.5 py-1 last:border-b-0">
            <span className="min-w-0 flex-1">{t(areaNames[area])}</span>
            <Select
              aria-label={t(areaNames[area])}
              className="w-28"
              value={values.access[area]}
              options={offered.map((access) => ({ value: access, name: words[access] }))}
              onChoose={(access) => set({ access: { ...values.access, [area]: access as AreaAccess } })}
            />
          </li>
        ))}
      </ul>
    </fieldset>
  )
}
