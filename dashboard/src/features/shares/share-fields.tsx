import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useId } from 'react'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import type { ShareValues } from './share-values.ts'

type Props = {
  values: ShareValues
  onChange(values: ShareValues): void
  /** Whether the share has a password already, which may stay. */
  isProtected: boolean
  today: string
}

/** Title, password, end and conversions of a public page. */
export function ShareFields({ values, onChange, isProtected, today }: Props) {
  const { t } = useLingui()
  const set = (change: Partial<ShareValues>) => onChange({ ...values, ...change })
  return (
    <>
      <Field
        label={<Trans>Title</Trans>}
        hint={<Trans>Visitors and previews in chats see this title, and never the name of the view or folder.</Trans>}
      >
        <TextInput
          autoFocus
          dir="auto"
          autoComplete="off"
          maxLength={100}
          value={values.title}
          onChange={(event) => set({ title: event.target.value })}
        />
      </Field>
      <Option checked={values.hasPassword} onChange={(hasPassword) => set({ hasPassword })}>
        <Trans>Ask for a password</Trans>
      </Option>
      {values.hasPassword && (
        <Field
          label={<Trans>Password</Trans>}
          hint={<Trans>Send it apart from the address. A new password locks out all who know the old one.</Trans>}
        >
          <TextInput
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={200}
            placeholder={isProtected ? t`Unchanged` : ''}
            value={values.password}
            onChange={(event) => set({ password: event.target.value })}
          />
        </Field>
      )}
      <Field label={<Trans>Last day</Trans>} hint={<Trans>Without one, the page stays until you stop sharing.</Trans>}>
        <TextInput
          type="date"
          min={today}
          value={values.lastDay}
          onChange={(event) => set({ lastDay: event.target.value })}
        />
      </Field>
      <Option checked={values.showConversions} onChange={(showConversions) => set({ showConversions })}>
        <Trans>Show leads, sales and revenue</Trans>
      </Option>
    </>
  )
}

type OptionProps = { checked: boolean; onChange(checked: boolean): void; children: ReactNode }

function Option({ checked, onChange, children }: OptionProps) {
  const id = useId()
  return (
    <span className="flex min-h-6 items-center gap-2.5 text-sm max-md:min-h-11">
      <Checkbox id={id} checked={checked} onCheckedChange={onChange} />
      <label htmlFor={id} className="cursor-pointer">
        {children}
      </label>
    </span>
  )
}
