import { Trans, useLingui } from '@lingui/react/macro'
import { Field, TextInput } from '../../ui/field.tsx'
import { LinkScopeFields } from './link-scope-fields.tsx'
import { TriggerFields } from './trigger-fields.tsx'
import type { WebhookFieldsProps } from './webhook-values.ts'

export function WebhookFields(props: WebhookFieldsProps) {
  const { t } = useLingui()
  const { values, set, errors } = props
  return (
    <>
      <Field label={<Trans>Name</Trans>} error={errors.name}>
        <TextInput
          autoFocus
          dir="auto"
          autoComplete="off"
          placeholder={t`Shop`}
          maxLength={80}
          value={values.name}
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
      <Field
        label={<Trans>Address of the receiver</Trans>}
        error={errors.url}
        hint={<Trans>It must answer with a status from 200 to 299 within 15 seconds.</Trans>}
      >
        <TextInput
          inputMode="url"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="https://example.com/webhooks"
          maxLength={2_000}
          value={values.url}
          onChange={(event) => set({ url: event.target.value })}
        />
      </Field>
      <TriggerFields chosen={values.triggers} onChange={(triggers) => set({ triggers })} error={errors.triggers} />
      <LinkScopeFields {...props} />
    </>
  )
}
