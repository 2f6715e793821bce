import { Trans, useLingui } from '@lingui/react/macro'
import { useId, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Dialog, DialogClose, DialogContent } from '../../ui/dialog.tsx'
import { control, Field, TextInput } from '../../ui/field.tsx'
import type { BulkChange } from './bulk.ts'
import { type EditField, type Entered, editData, editFields, fieldNames, missingField } from './edit-fields.ts'
import { fieldLabels } from './field-labels.ts'

type Props = { count: number; failure: string | undefined; onPreview(change: BulkChange): void; onClose(): void }

/** Sets any fields of many links; a preview comes next. */
export function BulkEdit({ count, failure, onPreview, onClose }: Props) {
  const { t } = useLingui()
  const [entered, setEntered] = useState<Entered>({})
  const [texts, setTexts] = useState({ find: '', replaceWith: '' })
  const missing = missingField(entered)
  const isReplacing = texts.find !== ''
  const isChanging = Object.keys(entered).length > 0
  const preview = () =>
    onPreview(isReplacing ? { action: 'replaceInUrl', replace: texts } : { action: 'update', data: editData(entered) })
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={t`Edit the selected links`}
        description={<Trans>Tick a field to set it in all of them. An empty value removes what they have.</Trans>}
        footer={
          <>
            {failure && (
              <p role="alert" className="mr-auto min-w-0 text-xs text-harm wrap-anywhere">
                {failure}
              </p>
            )}
            <DialogClose asChild>
              <Button kind="quiet">
                <Trans>Cancel</Trans>
              </Button>
            </DialogClose>
            <Button
              type="submit"
              form="bulk-edit"
              kind="first"
              disabled={missing !== undefined || isReplacing === isChanging || count === 0}
            >
              <Trans>Preview</Trans>
            </Button>
          </>
        }
      >
        <form
          id="bulk-edit"
          onSubmit={(event) => {
            event.preventDefault()
            preview()
          }}
        >
          {fieldNames.map((name) => (
            <FieldRow
              key={name}
              name={name}
              value={entered[name]}
              isMissing={missing === name}
              onChange={(value) => {
                const { [name]: _, ...rest } = entered
                setEntered(value === undefined ? rest : { ...rest, [name]: value })
              }}
            />
          ))}
          <fieldset className="mt-4 grid grid-cols-2 gap-3 border-t pt-4 max-sm:grid-cols-1">
            <legend className="sr-only">
              <Trans>Replace a part of the destination</Trans>
            </legend>
            <Field label={<Trans>Replace in the destination</Trans>}>
              <TextInput
                autoComplete="off"
                placeholder="http://old.example.com"
                value={texts.find}
                maxLength={2_000}
                onChange={(event) => setTexts({ ...texts, find: event.target.value })}
              />
            </Field>
            <Field label={<Trans>With</Trans>}>
              <TextInput
                autoComplete="off"
                placeholder="https://example.com"
                value={texts.replaceWith}
                maxLength={2_000}
                onChange={(event) => setTexts({ ...texts, replaceWith: event.target.value })}
              />
            </Field>
            {isReplacing && isChanging && (
              <p role="alert" className="text-xs text-harm sm:col-span-2">
                <Trans>Replace a part of the destination, or set fields: one at a time.</Trans>
              </p>
            )}
          </fieldset>
        </form>
      </DialogContent>
    </Dialog>
  )
}

type RowProps = {
  name: EditField
  value: string | undefined
  isMissing: boolean
  onChange(value: string | undefined): void
}

function FieldRow({ name, value, isMissing, onChange }: RowProps) {
  const { t } = useLingui()
  const id = useId()
  const label = t(fieldLabels[name])
  const isSwitch = editFields[name] === 'switch'
  const isSet = value !== undefined
  return (
    <div className="flex min-h-9 items-center gap-2.5 text-sm max-md:min-h-12">
      <Checkbox id={id} checked={isSet} onCheckedChange={() => onChange(isSet ? undefined : isSwitch ? 'on' : '')} />
      <label htmlFor={id} className="w-44 shrink-0 cursor-pointer max-sm:w-32">
        {label}
      </label>
      {isSet &&
        (isSwitch ? (
          <select
            aria-label={t`${label}: value`}
            className={`h-8 max-md:h-11 ${control}`}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          >
            <option value="on">{t`On`}</option>
            <option value="off">{t`Off`}</option>
          </select>
        ) : (
          <TextInput
            autoFocus
            autoComplete="off"
            spellCheck={false}
            aria-label={t`${label}: value`}
            aria-invalid={isMissing || undefined}
            placeholder={name === 'expiresAt' ? t`in 3 weeks` : undefined}
            value={value}
            maxLength={name === 'url' ? 32_000 : 10_000}
            onChange={(event) => onChange(event.target.value)}
          />
        ))}
    </div>
  )
}
