import { Trans, useLingui } from '@lingui/react/macro'
import { X } from 'lucide-react'
import { useMemo } from 'react'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/choice.tsx'
import { Field } from '../../ui/field.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { AddressInput } from './builder-inputs.tsx'
import type { BuilderForm } from './builder-values.ts'
import { countryNames } from './countries.ts'

/** Other destinations by the visitor's system and country. */
export function TargetingSection({ values, set, errors }: BuilderForm) {
  const { t } = useLingui()
  const locale = useLocale()
  const names = useMemo(() => countryNames(locale), [locale])
  const countries = Object.entries(values.geo)
  const setCountry = (country: string, url: string) => set({ geo: { ...values.geo, [country]: url } })
  const free = [...names].filter(([value]) => !(value in values.geo)).map(([value, name]) => ({ value, name }))
  return (
    <>
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Field label={<Trans>iPhone and iPad</Trans>} error={errors.ios}>
          <AddressInput value={values.ios} onChange={(ios) => set({ ios })} placeholder="myapp://sale" />
        </Field>
        <Field label="Android" error={errors.android}>
          <AddressInput value={values.android} onChange={(android) => set({ android })} placeholder="myapp://sale" />
        </Field>
      </div>
      {countries.map(([country, url]) => {
        const name = names.get(country) ?? country
        return (
          <div key={country} className="flex items-end gap-1.5">
            <Field label={name} className="flex-1">
              <AddressInput value={url} onChange={(url) => setCountry(country, url)} />
            </Field>
            <Button
              kind="quiet"
              size="icon"
              aria-label={t`Leave out ${name}`}
              onClick={() => {
                const { [country]: _, ...geo } = values.geo
                set({ geo })
              }}
            >
              <X size={14} aria-hidden />
            </Button>
          </div>
        )
      })}
      <Field
        label={<Trans>Add a country</Trans>}
        error={errors.geo}
        hint={<Trans>Systems come before countries; everybody else gets the destination.</Trans>}
      >
        <Choice
          label={t`Search countries`}
          options={free}
          value=""
          onChoose={(country) => setCountry(country, values.url)}
        />
      </Field>
    </>
  )
}
