import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { type Target, targets } from './columns.ts'
import type { ImportedFile } from './rows.ts'

const names: Record<Target, MessageDescriptor> = {
  url: msg`Destination`,
  shortUrl: msg`Short address`,
  domain: msg`Domain`,
  key: msg`Slug`,
  title: msg`Title`,
  description: msg`Description`,
  comments: msg`Comment`,
  tags: msg`Tags`,
  folder: msg`Folder`,
  expiresAt: msg`Expires`,
  expiredUrl: msg`Destination afterwards`,
  password: msg`Password`,
  ios: msg`Destination on iOS`,
  android: msg`Destination on Android`,
  utm_source: msg`UTM source`,
  utm_medium: msg`UTM medium`,
  utm_campaign: msg`UTM campaign`,
  utm_term: msg`UTM term`,
  utm_content: msg`UTM content`,
  externalId: msg`External id`,
  archived: msg`Archived`,
}

type Columns = Partial<Record<Target, number>>
type Props = {
  file: ImportedFile
  columns: Columns
  onColumns(columns: Columns): void
  domain: { own: readonly string[]; canKeep: boolean; value: string }
  onDomain(domain: string): void
  isDisabled: boolean
}

/** What each column of the file becomes, and the domain of the links. */
export function ColumnFields({ file, columns, onColumns, domain, onDomain, isDisabled }: Props) {
  const { t } = useLingui()
  const findTarget = (index: number) => targets.find((target) => columns[target] === index) ?? ''
  const choices = targets.map((target) => ({ value: target as string, name: t(names[target]) }))
  const choose = (index: number, target: string) => {
    const others = Object.entries(columns).filter(([name, at]) => at !== index && name !== target)
    onColumns({ ...Object.fromEntries(others), ...(target && { [target]: index }) })
  }
  return (
    <div className="flex flex-col gap-4">
      <Field
        label={<Trans>Domain of the links</Trans>}
        hint={
          domain.canKeep ? undefined : <Trans>Domains of the file that are not in this workspace can’t be kept.</Trans>
        }
        className="max-w-80"
      >
        <Select
          disabled={isDisabled}
          value={domain.value}
          onChoose={onDomain}
          options={[
            ...(domain.canKeep ? [{ value: '', name: t`As in the file` }] : []),
            ...domain.own.map((slug) => ({ value: slug, name: slug })),
          ]}
        />
      </Field>
      {columns.url === undefined && (
        <p role="alert" className="text-sm text-harm">
          <Trans>Choose the column with the destination.</Trans>
        </p>
      )}
      <div className="grid grid-cols-[repeat(auto-fill,minmax(220px,1fr))] gap-3">
        {file.head.map((heading, index) => (
          <Field
            // biome-ignore lint/suspicious/noArrayIndexKey: columns never move, and headings may repeat
            key={index}
            label={<bdi className="line-clamp-1 wrap-anywhere">{heading || t`Column ${index + 1}`}</bdi>}
            hint={<bdi className="line-clamp-1 wrap-anywhere">{exampleValue(file, index)}</bdi>}
          >
            <Select
              disabled={isDisabled}
              value={findTarget(index)}
              onChoose={(target) => choose(index, target)}
              options={[{ value: '', name: t`Not imported` }, ...choices]}
            />
          </Field>
        ))}
      </div>
    </div>
  )
}

/** The first value of a column. */
function exampleValue({ rows }: ImportedFile, index: number): string {
  return rows.find((row) => row[index])?.[index]?.slice(0, 200) ?? '–'
}
