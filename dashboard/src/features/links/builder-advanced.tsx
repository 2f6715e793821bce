import { Trans } from '@lingui/react/macro'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { Switch } from './builder-inputs.tsx'
import type { BuilderForm } from './builder-values.ts'

/** Cloaking, indexing, ids of the customer's own systems, and webhooks of this link alone. */
export function AdvancedSection({ values, set, errors }: BuilderForm) {
  return (
    <>
      <Switch
        isOn={values.rewrite}
        onChange={(rewrite) => set({ rewrite })}
        hint={<Trans>The destination is shown in a frame; some pages refuse that.</Trans>}
      >
        <Trans>Keep the short address in the browser</Trans>
      </Switch>
      <Switch isOn={values.doIndex} onChange={(doIndex) => set({ doIndex })}>
        <Trans>Let search engines index the short address</Trans>
      </Switch>
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Field label={<Trans>External id</Trans>} error={errors.externalId}>
          <TextInput
            autoComplete="off"
            spellCheck={false}
            value={values.externalId}
            maxLength={255}
            onChange={(event) => set({ externalId: event.target.value })}
          />
        </Field>
        <Field label={<Trans>Tenant id</Trans>} error={errors.tenantId}>
          <TextInput
            autoComplete="off"
            spellCheck={false}
            value={values.tenantId}
            maxLength={255}
            onChange={(event) => set({ tenantId: event.target.value })}
          />
        </Field>
      </div>
      <Webhooks {...{ values, set }} />
    </>
  )
}

function Webhooks({ values, set }: Pick<BuilderForm, 'values' | 'set'>) {
  const { can } = useWorkspace()
  const { data: webhooks = [] } = useOperation('listWebhooks', {}, { enabled: can('webhooks.read'), staleTime: 60_000 })
  if (webhooks.length === 0) return null
  const { webhookIds } = values
  return (
    <fieldset>
      <legend className="text-xs text-muted">
        <Trans>Webhooks that get this link’s events</Trans>
      </legend>
      {webhooks.map(({ id, name }) => (
        <Switch
          key={id}
          isOn={webhookIds.includes(id)}
          onChange={(isOn) =>
            set({ webhookIds: isOn ? [...webhookIds, id] : webhookIds.filter((other) => other !== id) })
          }
        >
          <bdi>{name}</bdi>
        </Switch>
      ))}
    </fieldset>
  )
}
