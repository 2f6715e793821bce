import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, TextArea, TextInput } from '../../ui/field.tsx'
import { cleanHost, type DomainField, type DomainValues } from './domain-values.ts'

type Props = {
  values: DomainValues
  set(changed: Partial<DomainValues>): void
  errors: Partial<Record<DomainField, string>>
  isEdit: boolean
  /** The name as it was. */
  before: string
}

/** The fields of a domain; those for apps open by a button. */
export function DomainFields({ values, set, errors, isEdit, before }: Props) {
  const { t } = useLingui()
  const hasApps = Boolean(values.assetLinks || values.appleAppSiteAssociation)
  const [isAppsOpen, setAppsOpen] = useState(hasApps)
  const isRenamed = isEdit && cleanHost(values.slug.trim()) !== before
  const bind = (name: DomainField) => ({
    value: values[name],
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => set({ [name]: event.target.value }),
  })
  const address = { type: 'url', inputMode: 'url', spellCheck: false, maxLength: 32_000 } as const
  return (
    <>
      <Field
        label={<Trans>Name</Trans>}
        error={errors.slug}
        hint={
          isRenamed ? (
            <Trans>All links move to the new name, which needs its own DNS records.</Trans>
          ) : isEdit ? undefined : (
            <Trans>A name that you own, such as go.example.com. The next page shows its DNS records.</Trans>
          )
        }
      >
        <TextInput
          {...bind('slug')}
          autoFocus={!isEdit}
          autoCapitalize="none"
          spellCheck={false}
          inputMode="url"
          maxLength={300}
          placeholder="go.example.com"
        />
      </Field>
      <Field
        label={<Trans>Address of the bare domain</Trans>}
        error={errors.rootUrl}
        hint={<Trans>Where visitors go who open the domain without a slug.</Trans>}
      >
        <TextInput {...bind('rootUrl')} {...address} placeholder="https://example.com" />
      </Field>
      <Field
        label={<Trans>Address for unknown links</Trans>}
        error={errors.notFoundUrl}
        hint={<Trans>Where visitors go whose short link does not exist. Empty shows a plain page.</Trans>}
      >
        <TextInput {...bind('notFoundUrl')} {...address} placeholder="https://example.com/not-found" />
      </Field>
      <Field
        label={<Trans>Address for expired links</Trans>}
        error={errors.expiredUrl}
        hint={<Trans>For expired links without an address of their own.</Trans>}
      >
        <TextInput {...bind('expiredUrl')} {...address} placeholder="https://example.com/expired" />
      </Field>
      <Field
        label={<Trans>Placeholder</Trans>}
        error={errors.placeholder}
        hint={<Trans>An example that the link builder shows for the destination.</Trans>}
      >
        <TextInput {...bind('placeholder')} dir="auto" maxLength={100} placeholder={t`https://example.com/sale`} />
      </Field>
      {isAppsOpen ? (
        <fieldset className="flex flex-col gap-3 border-t pt-3">
          <legend className="float-left mb-1 text-sm font-semibold">
            <Trans>Apps</Trans>
          </legend>
          <Field label="assetlinks.json (Android)" error={errors.assetLinks}>
            <TextArea {...bind('assetLinks')} rows={4} spellCheck={false} maxLength={100_000} className="font-mono" />
          </Field>
          <Field label="apple-app-site-association (iOS)" error={errors.appleAppSiteAssociation}>
            <TextArea
              {...bind('appleAppSiteAssociation')}
              rows={4}
              spellCheck={false}
              maxLength={100_000}
              className="font-mono"
            />
          </Field>
        </fieldset>
      ) : (
        <Button className="self-start" onClick={() => setAppsOpen(true)}>
          <Trans>Apps</Trans>
        </Button>
      )}
    </>
  )
}
