import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { OperationAnswer } from '@tributary/contract/client'
import { useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { Choices } from '../../ui/choices.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Tag, type TagColor } from '../../ui/tag.tsx'

export type LinkTag = OperationAnswer<'getTags'>[number]

const colors: Record<TagColor, MessageDescriptor> = {
  blue: msg`Blue`,
  green: msg`Green`,
  yellow: msg`Yellow`,
  red: msg`Red`,
  pink: msg`Pink`,
  purple: msg`Purple`,
  brown: msg`Brown`,
  gray: msg`Grey`,
}

/** Creates a tag, or changes one. */
export function TagDialog({ tag, onClose }: { tag?: LinkTag; onClose(): void }) {
  const { t } = useLingui()
  const create = useChange('createTag', ['getTags'])
  const update = useChange('updateTag', ['getTags', 'getLinks', 'getLinkInfo'])
  const [name, setName] = useState(tag?.name ?? '')
  const [color, setColor] = useState<TagColor>(tag?.color ?? 'blue')
  const body = { name: name.trim(), color }
  return (
    <FormDialog
      title={tag ? <Trans>Edit tag</Trans> : <Trans>Create tag</Trans>}
      submit={tag ? <Trans>Save tag</Trans> : <Trans>Create tag</Trans>}
      isReady={name.trim() !== ''}
      onSubmit={() => (tag ? update.mutateAsync({ params: { id: tag.id }, body }) : create.mutateAsync({ body }))}
      onClose={onClose}
    >
      <Field label={<Trans>Name</Trans>}>
        <TextInput
          autoFocus
          dir="auto"
          autoComplete="off"
          maxLength={50}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Choices<TagColor>
        label={<Trans>Colour</Trans>}
        value={color}
        onChange={setColor}
        choices={(Object.keys(colors) as TagColor[]).map((value) => ({
          value,
          name: <Tag color={value}>{t(colors[value])}</Tag>,
        }))}
      />
    </FormDialog>
  )
}
