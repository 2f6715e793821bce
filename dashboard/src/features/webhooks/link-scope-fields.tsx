import { Trans, useLingui } from '@lingui/react/macro'
import { useRef, useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { Choices } from '../../ui/choices.tsx'
import { Field } from '../../ui/field.tsx'
import { OptionList } from '../../ui/option-list.tsx'
import { usePaused } from '../../ui/paused.ts'
import { Picker } from '../../ui/picker.tsx'
import { Tag } from '../../ui/tag.tsx'
import { shortAddress } from '../links/texts.ts'
import type { WebhookFieldsProps, WebhookValues } from './webhook-values.ts'

/** Which links' events are sent: of all, of those in some folders, or of some. */
export function LinkScopeFields({ values, set, errors, isEdit }: WebhookFieldsProps) {
  const { t } = useLingui()
  const scopes: { value: WebhookValues['linkScope']; name: string }[] = [
    { value: 'workspace', name: t`All links` },
    { value: 'folders', name: t`Folders` },
    { value: 'links', name: t`Single links` },
  ]
  const toggle = (ids: readonly string[], id: string) =>
    ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]
  return (
    <div className="flex flex-col gap-3">
      <Choices
        label={<Trans>Events of</Trans>}
        choices={scopes}
        value={values.linkScope}
        onChange={(linkScope) => set({ linkScope })}
      />
      {values.linkScope === 'folders' && (
        <Field label={<Trans>Folders</Trans>} error={errors.folderIds}>
          <FolderPicker chosen={values.folderIds} onToggle={(id) => set({ folderIds: toggle(values.folderIds, id) })} />
        </Field>
      )}
      {values.linkScope === 'links' && (
        <Field
          label={<Trans>Links</Trans>}
          error={errors.linkIds}
          hint={
            isEdit ? (
              <Trans>Links that you choose here replace the present ones. Choose none to keep those.</Trans>
            ) : (
              <Trans>You can also choose the webhook later, in the settings of each link.</Trans>
            )
          }
        >
          <LinkPicker chosen={values.linkIds} onToggle={(id) => set({ linkIds: toggle(values.linkIds, id) })} />
        </Field>
      )}
    </div>
  )
}

type PickerProps = { chosen: readonly string[]; onToggle(id: string): void }

function FolderPicker({ chosen, onToggle }: PickerProps) {
  const { t } = useLingui()
  const { data: folders = [], isPending } = useOperation('listFolders', { query: { pageSize: 100 } })
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  const names = new Map(folders.map(({ id, name }) => [id, name]))
  return (
    <Picker
      options={() => (
        <OptionList
          label={t`Find a folder`}
          options={folders
            .filter(({ name }) => name.toLowerCase().includes(words))
            .map(({ id, name }) => ({ value: id, name }))}
          selected={chosen}
          onChoose={onToggle}
          search={search}
          onSearch={setSearch}
          isLoading={isPending}
        />
      )}
    >
      <Chosen names={chosen.map((id) => names.get(id) ?? id)} />
    </Picker>
  )
}

function LinkPicker({ chosen, onToggle }: PickerProps) {
  const { t } = useLingui()
  const [search, setSearch] = useState('')
  const paused = usePaused(search.trim())
  const { data: links = [], isPending } = useOperation('getLinks', { query: { search: paused, pageSize: 50 } })
  // Links are chosen from those that were found, so their names are known without a further request.
  const names = useRef(new Map<string, string>())
  for (const link of links) names.current.set(link.id, shortAddress(link))
  return (
    <Picker
      options={() => (
        <OptionList
          label={t`Find a link`}
          options={links.map((link) => ({ value: link.id, name: shortAddress(link) }))}
          selected={chosen}
          onChoose={onToggle}
          search={search}
          onSearch={setSearch}
          isLoading={isPending}
        />
      )}
    >
      <Chosen names={chosen.map((id) => names.current.get(id) ?? id)} />
    </Picker>
  )
}

const mostShown = 8

function Chosen({ names }: { names: readonly string[] }) {
  if (names.length === 0) return '–'
  return (
    <>
      {names.slice(0, mostShown).map((name) => (
        <Tag key={name} color="gray">
          {name}
        </Tag>
      ))}
      {names.length > mostShown && <span className="text-xs text-muted">+{names.length - mostShown}</span>}
    </>
  )
}
