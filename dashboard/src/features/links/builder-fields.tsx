import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useChange, useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Field, TextArea, TextInput } from '../../ui/field.tsx'
import { usePaused } from '../../ui/paused.ts'
import { Picker } from '../../ui/picker.tsx'
import { Tag } from '../../ui/tag.tsx'
import type { BuilderForm } from './builder-values.ts'
import { DomainOptions, FolderOptions, TagOptions } from './filter-options.tsx'
import { usePage } from './page-metadata.ts'
import { shortAddress } from './texts.ts'

export function DestinationField({ values, set, errors }: BuilderForm) {
  const { page } = usePage(values.url)
  return (
    <Field
      label={<Trans>Destination</Trans>}
      error={errors.url}
      hint={page?.title ? <bdi className="line-clamp-1">{page.title}</bdi> : undefined}
    >
      <TextInput
        type="url"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        autoFocus
        placeholder="https://example.com/pricing"
        value={values.url}
        maxLength={32_000}
        onChange={(event) => set({ url: event.target.value })}
      />
    </Field>
  )
}

type AddressProps = BuilderForm & { domains: readonly { slug: string }[] }

export function AddressFields({ values, set, errors, isEdit, domains }: AddressProps) {
  return (
    <div>
      <div className="grid grid-cols-[2fr_3fr] gap-3">
        <Field label={<Trans>Domain</Trans>} error={errors.domain}>
          <Picker
            isDisabled={domains.length === 0}
            options={(onDone) => (
              <DomainOptions
                selected={values.domain}
                onChoose={(domain) => {
                  set({ domain })
                  onDone()
                }}
              />
            )}
          >
            <bdi className="truncate">{values.domain || '–'}</bdi>
          </Picker>
        </Field>
        <Field label={<Trans>Slug</Trans>} error={errors.key}>
          <SlugInput {...{ values, set, isEdit }} />
        </Field>
      </div>
      {!errors.key && <SlugState {...{ values, set, isEdit }} />}
    </div>
  )
}

type SlugProps = Pick<BuilderForm, 'values' | 'set' | 'isEdit'>

function SlugInput({ values, set }: SlugProps) {
  const { t } = useLingui()
  return (
    <TextInput
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      placeholder={t`random`}
      value={values.key}
      maxLength={190}
      onChange={(event) => set({ key: event.target.value.replaceAll(' ', '-') })}
    />
  )
}

/** Whether the slug is free, asked while it is being typed. */
function SlugState({ values, set, isEdit }: SlugProps) {
  const [original] = useState(isEdit ? shortAddress(values) : '')
  const key = usePaused(values.key.trim(), 250)
  const { domain } = values
  const isAsked = key !== '' && shortAddress({ domain, key }) !== original
  const { data: check } = useOperation('checkSlug', { query: { key, ...(domain && { domain }) } }, { enabled: isAsked })
  const isCurrent = isAsked && check?.key === key && values.key.trim() === key
  return (
    <p role="status" className="mt-1 min-h-4 text-xs wrap-anywhere">
      {isCurrent && check.isAvailable && (
        <span className="text-good">
          <Trans>{shortAddress(check)} is free</Trans>
        </span>
      )}
      {isCurrent && !check.isAvailable && (
        <span className="text-harm">
          {check.message}{' '}
          {check.suggestion && (
            <button type="button" className="underline" onClick={() => set({ key: check.suggestion ?? '' })}>
              <Trans>Use {check.suggestion}</Trans>
            </button>
          )}
        </span>
      )}
    </p>
  )
}

export function FolderField({ values, set, errors }: BuilderForm) {
  const { can } = useWorkspace()
  const { data: folders = [] } = useOperation('listFolders', { query: { pageSize: 100 } }, { staleTime: 60_000 })
  const create = useChange('createFolder', ['listFolders'])
  const name = folders.find(({ id }) => id === values.folderId)?.name
  const createFolder = async (name: string) => set({ folderId: (await create.mutateAsync({ body: { name } })).id })
  return (
    <Field label={<Trans>Folder</Trans>} error={errors.folderId ?? create.error?.message}>
      <Picker
        options={(onDone) => (
          <FolderOptions
            selected={values.folderId || 'unsorted'}
            onChoose={(id) => {
              set({ folderId: id === 'unsorted' ? '' : id })
              onDone()
            }}
            onCreate={can('folders.write') ? (name) => void createFolder(name).then(onDone, onDone) : undefined}
          />
        )}
      >
        {name ? (
          <bdi className="truncate">{name}</bdi>
        ) : (
          <span className="text-faint">
            <Trans>No folder</Trans>
          </span>
        )}
      </Picker>
    </Field>
  )
}

export function TagsField({ values, set, errors }: BuilderForm) {
  const { can } = useWorkspace()
  const { tagIds } = values
  const { data: tags = [] } = useOperation('getTags', { query: { ids: tagIds.join() } }, { enabled: tagIds.length > 0 })
  const create = useChange('createTag', ['getTags'])
  const createTag = async (name: string) =>
    set({ tagIds: [...tagIds, (await create.mutateAsync({ body: { name } })).id] })
  const toggle = (id: string) =>
    set({ tagIds: tagIds.includes(id) ? tagIds.filter((one) => one !== id) : [...tagIds, id] })
  const shown = tags.filter(({ id }) => tagIds.includes(id))
  return (
    <Field label={<Trans>Tags</Trans>} error={errors.tagIds ?? create.error?.message}>
      <Picker
        options={() => (
          <TagOptions
            selected={tagIds}
            onChoose={toggle}
            onCreate={can('tags.write') ? (name) => void createTag(name).catch(() => undefined) : undefined}
          />
        )}
      >
        {shown.map(({ id, name, color }) => (
          <Tag key={id} color={color}>
            {name}
          </Tag>
        ))}
        {tagIds.length === 0 && (
          <span className="text-faint">
            <Trans>No tags</Trans>
          </span>
        )}
      </Picker>
    </Field>
  )
}

export function CommentField({ values, set, errors }: BuilderForm) {
  return (
    <Field label={<Trans>Comment</Trans>} error={errors.comments}>
      <TextArea
        dir="auto"
        rows={2}
        value={values.comments}
        maxLength={10_000}
        onChange={(event) => set({ comments: event.target.value })}
      />
    </Field>
  )
}
