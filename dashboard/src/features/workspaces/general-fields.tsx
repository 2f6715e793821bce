import { Trans, useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import { useOperation } from '../../app/queries.ts'
import { Choice } from '../../ui/choice.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { Select } from '../../ui/select.tsx'
import { currencyOptions, timeZoneOptions, weekdayOptions } from './choices.ts'
import type { WorkspaceField, WorkspaceValues } from './workspace-values.ts'

export type GeneralFieldsProps = {
  values: WorkspaceValues
  set(changed: Partial<WorkspaceValues>): void
  errors: Partial<Record<WorkspaceField, string>>
  isReadOnly: boolean
}

function bind({ values, set, isReadOnly }: GeneralFieldsProps, name: WorkspaceField) {
  return {
    value: values[name],
    disabled: isReadOnly,
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => set({ [name]: event.target.value }),
  }
}

export function IdentityFields(form: GeneralFieldsProps) {
  const { errors } = form
  return (
    <>
      <Field label={<Trans>Name</Trans>} error={errors.name}>
        <TextInput {...bind(form, 'name')} dir="auto" maxLength={64} />
      </Field>
      <Field
        label={<Trans>Slug</Trans>}
        error={errors.slug}
        hint={<Trans>Part of every address of this dashboard; programs may use it, too.</Trans>}
      >
        <TextInput {...bind(form, 'slug')} autoCapitalize="none" spellCheck={false} maxLength={48} />
      </Field>
      <Field label={<Trans>Logo</Trans>} error={errors.logo} hint={<Trans>Address of an image.</Trans>}>
        <TextInput
          {...bind(form, 'logo')}
          type="url"
          spellCheck={false}
          maxLength={2_000}
          placeholder="https://example.com/logo.png"
        />
      </Field>
      <Field
        label={<Trans>Contact address</Trans>}
        error={errors.contactEmail}
        hint={<Trans>Gets e-mails about this workspace.</Trans>}
      >
        <TextInput {...bind(form, 'contactEmail')} type="email" spellCheck={false} maxLength={254} />
      </Field>
    </>
  )
}

export function FigureFields(form: GeneralFieldsProps) {
  const { t } = useLingui()
  const locale = useLocale()
  const { values, set, errors, isReadOnly } = form
  const { data: domains = [] } = useOperation('listDomains', { query: { pageSize: 100, sortBy: 'slug' } })
  const timeZones = useMemo(() => timeZoneOptions(), [])
  const currencies = useMemo(() => currencyOptions(locale), [locale])
  return (
    <>
      <Field label={<Trans>Default domain of new links</Trans>} error={errors.defaultDomain}>
        <Choice
          label={t`Find a domain`}
          isDisabled={isReadOnly || domains.length === 0}
          options={domains.map(({ slug }) => ({ value: slug, name: slug }))}
          value={values.defaultDomain}
          onChoose={(defaultDomain) => set({ defaultDomain })}
        />
      </Field>
      <Field label={<Trans>Time zone</Trans>} error={errors.timeZone}>
        <Choice
          label={t`Find a time zone`}
          isDisabled={isReadOnly}
          options={timeZones}
          value={values.timeZone}
          onChoose={(timeZone) => set({ timeZone })}
        />
      </Field>
      <Field label={<Trans>First day of the week</Trans>} error={errors.weekStart}>
        <Select
          disabled={isReadOnly}
          value={values.weekStart}
          options={weekdayOptions(locale)}
          onChoose={(weekStart) => set({ weekStart })}
        />
      </Field>
      <Field
        label={<Trans>Currency</Trans>}
        error={errors.currency}
        hint={<Trans>New sales are converted to it. Older ones stay as they are.</Trans>}
      >
        <Choice
          label={t`Find a currency`}
          isDisabled={isReadOnly}
          options={currencies}
          value={values.currency}
          onChoose={(currency) => set({ currency })}
        />
      </Field>
    </>
  )
}

export function TrackingFields(form: GeneralFieldsProps) {
  const { t } = useLingui()
  const { values, set, errors, isReadOnly } = form
  return (
    <>
      <Field
        label={<Trans>Attribution</Trans>}
        error={errors.attributionModel}
        hint={<Trans>Which click of a customer gets the lead and its sales.</Trans>}
      >
        <Select
          disabled={isReadOnly}
          value={values.attributionModel}
          options={[
            { value: 'last-click', name: t`Last click` },
            { value: 'first-click', name: t`First click` },
          ]}
          onChoose={(attributionModel) => set({ attributionModel })}
        />
      </Field>
      <Field
        label={<Trans>Days from click to lead</Trans>}
        error={errors.attributionDays}
        hint={<Trans>Older clicks get no lead.</Trans>}
      >
        <TextInput {...bind(form, 'attributionDays')} type="number" inputMode="numeric" min={1} max={3_650} />
      </Field>
      <Field
        label={<Trans>IP addresses of visitors</Trans>}
        error={errors.ipStorage}
        className="md:col-span-2"
        hint={<Trans>How much of them is stored with clicks.</Trans>}
      >
        <Select
          disabled={isReadOnly}
          value={values.ipStorage}
          options={[
            { value: '', name: t`As the operator of this server has set it` },
            { value: 'full', name: t`Store them whole` },
            { value: 'truncated', name: t`Store them shortened` },
            { value: 'eu-truncated', name: t`Shorten those from the EU` },
            { value: 'none', name: t`Store none` },
          ]}
          onChoose={(ipStorage) => set({ ipStorage })}
        />
      </Field>
    </>
  )
}
