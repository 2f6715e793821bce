import { Trans, useLingui } from '@lingui/react/macro'
import type { Trigger } from '@tributary/contract/webhooks'
import { useId } from 'react'
import { Checkbox } from '../../ui/checkbox.tsx'
import { groupNames, triggerNames } from './trigger-names.ts'
import { type TriggerGroup, triggerGroups } from './triggers.ts'

type Props = { chosen: readonly Trigger[]; onChange(chosen: readonly Trigger[]): void; error?: string }

/** The triggers by what they are about; the box of a group chooses all of it. */
export function TriggerFields({ chosen, onChange, error }: Props) {
  const { t } = useLingui()
  const set = (changed: readonly Trigger[], isOn: boolean) =>
    onChange([...chosen.filter((trigger) => !changed.includes(trigger)), ...(isOn ? changed : [])])
  return (
    <fieldset>
      <legend className="mb-1 text-xs text-muted">
        <Trans>Triggers</Trans>
      </legend>
      {error && (
        <p role="alert" className="mb-1 text-xs text-harm">
          {error}
        </p>
      )}
      <div className="flex flex-col rounded-md border text-sm">
        {Object.entries(triggerGroups).map(([id, triggers]: [string, readonly Trigger[]]) => {
          const name = t(groupNames[id as TriggerGroup])
          const count = triggers.filter((trigger) => chosen.includes(trigger)).length
          return (
            <fieldset key={id} className="border-b px-2.5 py-1.5 last:border-b-0">
              <legend className="sr-only">{name}</legend>
              <TickBox
                checked={count === triggers.length || (count > 0 && 'indeterminate')}
                onChange={(isOn) => set(triggers, isOn)}
              >
                <span className="font-medium">{name}</span>
              </TickBox>
              <div className="grid pl-6.5">
                {triggers.map((trigger) => (
                  <TickBox key={trigger} checked={chosen.includes(trigger)} onChange={(isOn) => set([trigger], isOn)}>
                    {t(triggerNames[trigger])}{' '}
                    <code className="font-mono text-xs whitespace-nowrap text-muted">{trigger}</code>
                  </TickBox>
                ))}
              </div>
            </fieldset>
          )
        })}
      </div>
    </fieldset>
  )
}

type TickBoxProps = { checked: boolean | 'indeterminate'; onChange(isOn: boolean): void; children: React.ReactNode }

function TickBox({ checked, onChange, children }: TickBoxProps) {
  const id = useId()
  return (
    <span className="flex min-h-7 items-center gap-2.5 max-md:min-h-11">
      <Checkbox id={id} checked={checked} onCheckedChange={onChange} />
      <label htmlFor={id} className="cursor-pointer">
        {children}
      </label>
    </span>
  )
}
