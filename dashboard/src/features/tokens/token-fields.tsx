import { Trans, useLingui } from '@lingui/react/macro'
import { useWorkspace } from '../../app/workspace.ts'
import { Field, TextArea, TextInput } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { AccessFields } from './access-fields.tsx'
import { taskNames } from './task-names.ts'
import { offeredTasks } from './tasks.ts'
import type { Expiry, Token, TokenKind, TokenValues } from './token-values.ts'

export type TokenFieldName = 'name' | 'scopes' | 'expiresAt' | 'allowedHostnames'
type Props = {
  values: TokenValues
  set(changed: Partial<TokenValues>): void
  errors: Partial<Record<TokenFieldName, string>>
  /** The key that is edited: its scopes can only be narrowed. */
  token?: Token
}

/** Name, kind, scopes by task, expiry and hostnames of a key. */
export function TokenFields({ values, set, errors, token }: Props) {
  const { t } = useLingui()
  return (
    <>
      <Field label={<Trans>Name</Trans>} error={errors.name}>
        <TextInput
          autoFocus
          dir="auto"
          autoComplete="off"
          placeholder={t`Nightly report`}
          maxLength={100}
          value={values.name}
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
      {!token && <KindField values={values} set={set} />}
      {values.kind === 'publishable' ? (
        <Field
          label={<Trans>Allowed hostnames</Trans>}
          error={errors.allowedHostnames}
          hint={
            <Trans>
              Pages that may use the key, such as example.com and *.example.com. Empty allows those of the workspace.
            </Trans>
          }
        >
          <TextArea
            rows={3}
            autoCapitalize="none"
            spellCheck={false}
            placeholder="example.com"
            maxLength={3_000}
            value={values.hostnames}
            onChange={(event) => set({ hostnames: event.target.value })}
          />
        </Field>
      ) : (
        <>
          {!token && <TaskField values={values} set={set} />}
          {values.task === 'custom' && <AccessFields {...{ values, set, token }} error={errors.scopes} />}
        </>
      )}
      <ExpiryField values={values} set={set} error={errors.expiresAt} isEdit={token !== undefined} />
    </>
  )
}

function KindField({ values, set }: Pick<Props, 'values' | 'set'>) {
  const { t } = useLingui()
  const { role } = useWorkspace()
  const isAdmin = role === 'owner' || role === 'admin'
  const kinds: { value: TokenKind; name: string }[] = [
    { value: 'personal', name: t`Personal: yours` },
    ...(isAdmin
      ? ([
          { value: 'machine', name: t`Machine: of the workspace` },
          { value: 'publishable', name: t`Publishable: for web pages` },
        ] as const)
      : []),
  ]
  const hints: Record<TokenKind, string> = {
    personal: t`May do what you may, in your folders, and ends with your membership.`,
    machine: t`For servers. It works on when the person who made it leaves.`,
    publishable: t`Everyone can read it in your pages. It can only report leads and sales.`,
  }
  return (
    <Field label={<Trans>Kind</Trans>} hint={hints[values.kind]}>
      <Select value={values.kind} options={kinds} onChoose={(kind) => set({ kind: kind as TokenKind })} />
    </Field>
  )
}

function TaskField({ values, set }: Pick<Props, 'values' | 'set'>) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const tasks = [
    ...offeredTasks(can).map((task) => ({ value: task as string, name: t(taskNames[task]) })),
    { value: 'custom', name: t`Something else` },
  ]
  return (
    <Field label={<Trans>What is it for?</Trans>}>
      <Select value={values.task} options={tasks} onChoose={(task) => set({ task: task as TokenValues['task'] })} />
    </Field>
  )
}

type ExpiryProps = Pick<Props, 'values' | 'set'> & { error?: string; isEdit: boolean }

function ExpiryField({ values, set, error, isEdit }: ExpiryProps) {
  const { t } = useLingui()
  const choices: { value: Expiry; name: string }[] = [
    ...(isEdit ? [{ value: 'unchanged' as const, name: t`as it is` }] : []),
    { value: '30', name: t`in 30 days` },
    { value: '90', name: t`in 90 days` },
    { value: '365', name: t`in a year` },
    { value: 'date', name: t`on a day` },
    { value: 'never', name: t`never` },
  ]
  return (
    <div className="grid grid-cols-2 gap-3">
      <Field label={<Trans>Expires</Trans>} error={values.expiry === 'date' ? undefined : error}>
        <Select value={values.expiry} options={choices} onChoose={(expiry) => set({ expiry: expiry as Expiry })} />
      </Field>
      {values.expiry === 'date' && (
        <Field label={<Trans>Last day</Trans>} error={error}>
          <TextInput type="date" value={values.day} onChange={(event) => set({ day: event.target.value })} />
        </Field>
      )}
    </div>
  )
}
