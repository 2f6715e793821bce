import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { readLogo } from './logo.ts'
import type { DesignForm } from './shape-fields.tsx'

/** The text below the code. */
export function LabelField({ design, set }: DesignForm) {
  const { t } = useLingui()
  return (
    <Field
      label={<Trans>Text below the code</Trans>}
      hint={<Trans>Up to 30 letters, digits and signs, drawn in capitals.</Trans>}
    >
      <TextInput
        autoComplete="off"
        placeholder={t`Scan me`}
        maxLength={30}
        value={design.label ?? ''}
        onChange={(event) => set({ label: event.target.value || null })}
      />
    </Field>
  )
}

/** The picture in the middle: a file, which becomes part of the design, or the address of one. */
export function LogoField({ design, set }: DesignForm) {
  const { t } = useLingui()
  const file = useRef<HTMLInputElement>(null)
  const [error, setError] = useState<string>()
  const isFile = design.logo?.startsWith('data:') ?? false
  const choose = async (given: File | undefined) => {
    if (!given) return
    setError(undefined)
    try {
      set({ logo: await readLogo(given) })
    } catch {
      setError(t`This file is not an image that the browser can read.`)
    }
  }
  return (
    <div className="flex flex-col gap-2">
      {isFile ? (
        <div className="flex flex-col gap-1">
          <span className="text-xs text-muted">
            <Trans>Logo</Trans>
          </span>
          <span className="flex items-center gap-2">
            <img src={design.logo ?? ''} alt={t`Logo`} className="size-8 rounded-sm border object-contain" />
            <Button size="small" onClick={() => file.current?.click()}>
              <Trans>Replace the image</Trans>
            </Button>
            <Button size="small" kind="quiet" onClick={() => set({ logo: null })}>
              <Trans>Remove the logo</Trans>
            </Button>
          </span>
        </div>
      ) : (
        <div className="flex items-end gap-1.5">
          <LogoAddress {...{ design, set }} />
          <Button onClick={() => file.current?.click()}>
            <Trans>Choose a file</Trans>
          </Button>
        </div>
      )}
      {error && (
        <p role="alert" className="text-xs text-harm">
          {error}
        </p>
      )}
      <input
        ref={file}
        type="file"
        hidden
        accept="image/*"
        aria-label={t`Logo file`}
        onChange={(event) => {
          void choose(event.target.files?.[0])
          event.target.value = ''
        }}
      />
    </div>
  )
}

function LogoAddress({ design, set }: DesignForm) {
  const [text, setText] = useState(design.logo ?? '')
  useEffect(() => setText(design.logo ?? ''), [design.logo])
  const isAddress = text === '' || /^https?:\/\/[^\s/]+\.[^\s]+/i.test(text)
  return (
    <Field label={<Trans>Logo</Trans>} className="flex-1">
      <TextInput
        type="url"
        autoComplete="off"
        spellCheck={false}
        placeholder="https://example.com/logo.png"
        maxLength={2_000}
        value={text}
        aria-invalid={!isAddress || undefined}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => isAddress && set({ logo: text || null })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && isAddress) set({ logo: text || null })
        }}
      />
    </Field>
  )
}
