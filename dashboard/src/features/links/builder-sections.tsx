import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../ui/menu.tsx'
import { AdvancedSection } from './builder-advanced.tsx'
import { AddressInput, Switch } from './builder-inputs.tsx'
import { PreviewSection } from './builder-preview.tsx'
import { TargetingSection } from './builder-targeting.tsx'
import { TestSection } from './builder-test.tsx'
import { addUtm, type BuilderForm, type BuilderValues, type UtmName, utmNames } from './builder-values.ts'

type SectionName = 'utm' | 'targeting' | 'test' | 'expiry' | 'password' | 'preview' | 'advanced'

/** Settings that few links need: each opens where its button stood. */
export function Sections(form: BuilderForm) {
  const { t } = useLingui()
  const [opened, setOpened] = useState<readonly SectionName[]>(() => filledSections(form.values))
  const sections: { id: SectionName; name: string; content: ReactNode }[] = [
    { id: 'utm', name: t`UTM`, content: <UtmSection {...form} /> },
    { id: 'targeting', name: t`Targeting`, content: <TargetingSection {...form} /> },
    { id: 'test', name: t`A/B test`, content: <TestSection {...form} /> },
    { id: 'expiry', name: t`Expiry`, content: <ExpirySection {...form} /> },
    { id: 'password', name: t`Password`, content: <PasswordField {...form} /> },
    { id: 'preview', name: t`Preview`, content: <PreviewSection {...form} /> },
    { id: 'advanced', name: t`Advanced`, content: <AdvancedSection {...form} /> },
  ]
  const closed = sections.filter(({ id }) => !opened.includes(id))
  return (
    <>
      {sections
        .filter(({ id }) => opened.includes(id))
        .map(({ id, name, content }) => (
          <fieldset key={id} className="flex flex-col gap-3 border-t pt-3">
            <legend className="float-left mb-1 text-sm font-semibold">{name}</legend>
            {content}
          </fieldset>
        ))}
      <Switch isOn={form.values.trackConversion} onChange={(trackConversion) => form.set({ trackConversion })}>
        <Trans>Track leads and sales</Trans>
      </Switch>
      {closed.length > 0 && (
        <div className="flex flex-wrap gap-1.5">
          {closed.map(({ id, name }) => (
            <Button key={id} onClick={() => setOpened([...opened, id])}>
              {name}
            </Button>
          ))}
        </div>
      )}
    </>
  )
}

function filledSections(values: BuilderValues): SectionName[] {
  const isFilled: Record<SectionName, boolean> = {
    utm: utmNames.some((name) => values[name]),
    targeting: Boolean(values.ios || values.android || Object.keys(values.geo).length),
    test: values.testVariants.length > 0,
    expiry: Boolean(values.expiresAt || values.expiredUrl),
    password: Boolean(values.password),
    preview: values.proxy,
    advanced: Boolean(
      values.rewrite || values.doIndex || values.externalId || values.tenantId || values.webhookIds.length,
    ),
  }
  return (Object.keys(isFilled) as SectionName[]).filter((name) => isFilled[name])
}

const utmLabels: Record<UtmName, [MessageDescriptor, string]> = {
  utm_source: [msg`Source`, 'newsletter'],
  utm_medium: [msg`Medium`, 'email'],
  utm_campaign: [msg`Campaign`, 'autumn-sale'],
  utm_term: [msg`Term`, 'running shoes'],
  utm_content: [msg`Content`, 'top-banner'],
}

function UtmSection({ values, set, errors }: BuilderForm) {
  const { t } = useLingui()
  return (
    <>
      <TemplateMenu set={set} />
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        {utmNames.map((name) => (
          <Field key={name} label={t(utmLabels[name][0])} error={errors[name]}>
            <TextInput
              autoComplete="off"
              placeholder={utmLabels[name][1]}
              value={values[name]}
              maxLength={255}
              onChange={(event) => set({ [name]: event.target.value })}
            />
          </Field>
        ))}
      </div>
      {values.url && (
        <section
          aria-label={t`Destination with UTM`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="max-h-16 overflow-y-auto rounded-md bg-hover px-2.5 py-1.5 font-mono text-xs text-muted wrap-anywhere"
        >
          <bdi>{addUtm(values.url, values)}</bdi>
        </section>
      )}
    </>
  )
}

function TemplateMenu({ set }: Pick<BuilderForm, 'set'>) {
  const { data: templates = [] } = useOperation('listUtmTemplates', {}, { staleTime: 60_000 })
  if (templates.length === 0) return null
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button size="small" className="self-start">
          <Trans>Use a template</Trans>
        </Button>
      </MenuTrigger>
      <MenuContent align="start">
        {templates.map((template) => (
          <MenuItem
            key={template.id}
            onSelect={() => set(Object.fromEntries(utmNames.map((name) => [name, template[name] ?? ''])))}
          >
            <bdi className="max-w-60 truncate">{template.name}</bdi>
          </MenuItem>
        ))}
      </MenuContent>
    </Menu>
  )
}

function ExpirySection({ values, set, errors }: BuilderForm) {
  const { t } = useLingui()
  return (
    <>
      <Field
        label={<Trans>Expires</Trans>}
        error={errors.expiresAt}
        hint={<Trans>A date, a date and time, or words such as “in 3 weeks”.</Trans>}
      >
        <TextInput
          autoComplete="off"
          placeholder={t`in 3 weeks`}
          value={values.expiresAt}
          maxLength={100}
          onChange={(event) => set({ expiresAt: event.target.value })}
        />
      </Field>
      <Field label={<Trans>Destination afterwards</Trans>} error={errors.expiredUrl}>
        <AddressInput value={values.expiredUrl} onChange={(expiredUrl) => set({ expiredUrl })} />
      </Field>
    </>
  )
}

function PasswordField({ values, set, errors }: BuilderForm) {
  return (
    <Field
      label={<Trans>Password</Trans>}
      error={errors.password}
      hint={<Trans>Visitors enter it before they are redirected.</Trans>}
    >
      <TextInput
        autoComplete="off"
        spellCheck={false}
        value={values.password}
        maxLength={190}
        onChange={(event) => set({ password: event.target.value })}
      />
    </Field>
  )
}
