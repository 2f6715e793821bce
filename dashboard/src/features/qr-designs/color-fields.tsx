import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { parseHex } from './drawing.ts'
import type { DesignForm } from './shape-fields.tsx'

/** The colours of the code, its background and its markers. */
export function ColorFields({ design, set }: DesignForm) {
  const { t } = useLingui()
  const id = useId()
  const isSame = design.markerColor === null
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3">
        <ColorField
          label={<Trans>Code</Trans>}
          pick={t`Pick the colour of the code`}
          value={design.fgColor}
          onChange={(fgColor) => set({ fgColor })}
        />
        <ColorField
          label={<Trans>Background</Trans>}
          pick={t`Pick the colour of the background`}
          value={design.bgColor}
          onChange={(bgColor) => set({ bgColor })}
        />
        {!isSame && (
          <ColorField
            label={<Trans>Markers</Trans>}
            pick={t`Pick the colour of the markers`}
            value={design.markerColor ?? design.fgColor}
            onChange={(markerColor) => set({ markerColor })}
          />
        )}
      </div>
      <div className="flex min-h-8 items-center gap-2.5 text-sm max-md:min-h-11">
        <Checkbox
          id={id}
          checked={!isSame}
          onCheckedChange={(isOwn) => set({ markerColor: isOwn ? design.fgColor : null })}
        />
        <label htmlFor={id} className="cursor-pointer">
          <Trans>Another colour for the markers</Trans>
        </label>
      </div>
    </div>
  )
}

type ColorProps = { label: ReactNode; pick: string; value: string; onChange(value: string): void }

/** A colour to pick, or to type as hex digits. */
function ColorField({ label, pick, value, onChange }: ColorProps) {
  const { t } = useLingui()
  const [text, setText] = useState(value)
  useEffect(() => {
    setText((text) => (parseHex(text) === value ? text : value))
  }, [value])
  const isWrong = parseHex(text) === undefined
  return (
    <Field label={label} error={isWrong ? t`Six hex digits, such as #0b3c49` : undefined}>
      <span className="flex gap-1.5">
        <input
          type="color"
          aria-label={pick}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className="h-8 w-9 shrink-0 cursor-pointer rounded-md border border-line-strong bg-surface p-0.5 max-md:h-11 max-md:w-11"
        />
        <TextInput
          autoComplete="off"
          spellCheck={false}
          maxLength={9}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            const color = parseHex(event.target.value)
            if (color) onChange(color)
          }}
          className="font-mono"
        />
      </span>
    </Field>
  )
}
