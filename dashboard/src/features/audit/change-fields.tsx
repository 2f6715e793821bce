import { Trans, useLingui } from '@lingui/react/macro'
import { type Change, compareFields, type FieldValue } from './entry.ts'

/** The fields of one object that changed, with the value before and after. */
export function ChangeFields({ change }: { change: Change }) {
  const { t } = useLingui()
  const fields = compareFields(change)
  const label = `${change.kind} ${change.id}`.trim()
  if (fields.length === 0) return null
  return (
    <table aria-label={t`Changes of ${label}`} className="w-full table-fixed text-sm">
      <caption className="pb-1 text-left text-xs text-muted wrap-anywhere">{label}</caption>
      <thead>
        <tr className="border-b text-left text-muted">
          <th scope="col" className="w-28 py-1 pr-2 font-normal">
            <Trans>Field</Trans>
          </th>
          <th scope="col" className="py-1 pr-2 font-normal">
            <Trans>Before</Trans>
          </th>
          <th scope="col" className="py-1 font-normal">
            <Trans>After</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ field, before, after }) => (
          <tr key={field} className="border-b align-top last:border-b-0">
            <th scope="row" className="py-1 pr-2 text-left font-normal wrap-anywhere">
              <bdi>{field}</bdi>
            </th>
            <td className="py-1 pr-2 text-muted wrap-anywhere">
              <Value value={before} />
            </td>
            <td className="py-1 wrap-anywhere">
              <Value value={after} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Value({ value }: { value: FieldValue }) {
  if (value === undefined) return <span className="text-faint">–</span>
  if ('text' in value) return <bdi>{value.text}</bdi>
  return (
    <span className="text-muted italic">
      <RedactedWord reason={value.redacted} />
    </span>
  )
}

function RedactedWord({ reason }: { reason: string }) {
  if (reason === 'secret') return <Trans>a secret, never stored</Trans>
  if (reason === 'personal') return <Trans>personal, for owners and admins</Trans>
  if (reason === 'erased') return <Trans>erased with the person</Trans>
  if (reason === 'size') return <Trans>too large, not stored</Trans>
  return reason
}
