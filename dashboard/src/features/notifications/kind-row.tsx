import { Trans, useLingui } from '@lingui/react/macro'
import type { NotificationSettings } from '@tributary/contract/notifications'
import { useId } from 'react'
import { Checkbox } from '../../ui/checkbox.tsx'
import { kindTexts } from './kind-texts.ts'

type Props = { setting: NotificationSettings['kinds'][number]; onChoose(isOn: boolean): void }

/** One kind: a switch, what it is, and an example. */
export function KindRow({ setting, onChoose }: Props) {
  const { t } = useLingui()
  const id = useId()
  const { kind, enabled, available } = setting
  const { name, about, subject, example } = kindTexts[kind]
  return (
    <li className="flex items-start gap-3 border-b px-4 py-3 text-sm last:border-b-0">
      <Checkbox
        role="switch"
        id={id}
        aria-describedby={`${id}-about`}
        className="mt-0.5"
        checked={enabled && available}
        disabled={!available}
        onCheckedChange={onChoose}
      />
      <div className="min-w-0 flex-1">
        <label htmlFor={id} className="font-medium">
          {t(name)}
        </label>
        <p id={`${id}-about`} className="max-w-160 text-muted">
          {t(about)}
          {!available && (
            <span className="block text-ink">
              <Trans>Your role, or the plan of the workspace, does not show you this.</Trans>
            </span>
          )}
        </p>
        <details className="mt-1 max-w-160">
          <summary className="w-fit cursor-pointer rounded-sm text-muted hover:text-ink max-md:py-2">
            <Trans>Example</Trans>
          </summary>
          <figure lang="en" className="mt-2 rounded-md border bg-canvas px-3 py-2">
            <p className="font-medium">{subject}</p>
            <p className="text-muted">{example}</p>
          </figure>
        </details>
      </div>
    </li>
  )
}
