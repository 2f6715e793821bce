import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { Choices } from '../../ui/choices.tsx'
import { Field, TextArea, TextInput } from '../../ui/field.tsx'
import { usePaused } from '../../ui/paused.ts'
import { AddressInput, Switch } from './builder-inputs.tsx'
import { type BuilderForm, withScheme } from './builder-values.ts'
import { usePage } from './page-metadata.ts'
import { type Network, networks, PreviewCard } from './preview-card.tsx'

/** How the link looks where it is posted: as its destination does, or with its own title, text and picture. */
export function PreviewSection({ values, set, errors }: BuilderForm) {
  const { t } = useLingui()
  const [network, setNetwork] = useState<Network>('facebook')
  const { page } = usePage(values.url)
  const own = { title: values.title, description: values.description, image: withScheme(values.image) }
  const shown = values.proxy ? own : { title: page?.title, description: page?.description, image: page?.image }
  const start = (proxy: boolean) =>
    set({
      proxy,
      ...(proxy && {
        title: values.title || (page?.title ?? '').slice(0, 500),
        description: values.description || (page?.description ?? '').slice(0, 1_000),
        image: values.image || (page?.image ?? ''),
      }),
    })
  return (
    <>
      <Switch isOn={values.proxy} onChange={start}>
        <Trans>Own title, description and picture</Trans>
      </Switch>
      {values.proxy && (
        <>
          <Field label={<Trans>Title</Trans>} error={errors.title}>
            <TextInput
              dir="auto"
              value={values.title}
              maxLength={500}
              onChange={(event) => set({ title: event.target.value })}
            />
          </Field>
          <Field label={<Trans>Description</Trans>} error={errors.description}>
            <TextArea
              dir="auto"
              rows={2}
              value={values.description}
              maxLength={1_000}
              onChange={(event) => set({ description: event.target.value })}
            />
          </Field>
          <Field label={<Trans>Picture</Trans>} error={errors.image}>
            <AddressInput
              value={values.image}
              onChange={(image) => set({ image })}
              placeholder="https://example.com/card.png"
            />
          </Field>
        </>
      )}
      <Choices<Network>
        label={t`Shown as on`}
        choices={Object.entries(networks).map(([value, name]) => ({ value: value as Network, name }))}
        value={network}
        onChange={setNetwork}
      />
      <PreviewCard
        network={network}
        title={shown.title || values.domain}
        description={shown.description ?? ''}
        image={usePicture(shown.image ?? '')}
        host={values.domain}
      />
    </>
  )
}

/** A picture through our own server: the page calls no other host. */
function usePicture(url: string): string | undefined {
  const asked = usePaused(url, 500)
  const isAsked = /^https?:\/\/[^/]+\./.test(asked) && asked.length <= 2_000
  const { data } = useOperation('getPreviewImage', { query: { url: asked } }, { enabled: isAsked, staleTime: 600_000 })
  if (url.startsWith('data:image/')) return url
  return isAsked ? (data?.image ?? undefined) : undefined
}
