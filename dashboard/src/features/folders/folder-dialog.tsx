import { Trans, useLingui } from '@lingui/react/macro'
import type { OperationAnswer } from '@tributary/contract/client'
import { useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Choices } from '../../ui/choices.tsx'
import { Field, TextArea, TextInput } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'

export type Folder = OperationAnswer<'listFolders'>[number]
type Access = 'write' | 'read' | 'none'

/** Creates a folder, or changes one. */
export function FolderDialog({ folder, onClose }: { folder?: Folder; onClose(): void }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const create = useChange('createFolder', ['listFolders'])
  const update = useChange('updateFolder', ['listFolders'])
  const [name, setName] = useState(folder?.name ?? '')
  const [description, setDescription] = useState(folder?.description ?? '')
  const [access, setAccess] = useState<Access>(folder ? (folder.accessLevel ?? 'none') : 'write')
  const body = {
    name: name.trim(),
    description: description.trim() || null,
    accessLevel: access === 'none' ? null : access,
  }
  return (
    <FormDialog
      title={folder ? <Trans>Edit folder</Trans> : <Trans>Create folder</Trans>}
      submit={folder ? <Trans>Save folder</Trans> : <Trans>Create folder</Trans>}
      isReady={name.trim() !== ''}
      onSubmit={() => (folder ? update.mutateAsync({ params: { id: folder.id }, body }) : create.mutateAsync({ body }))}
      onClose={onClose}
    >
      <Field label={<Trans>Name</Trans>}>
        <TextInput
          autoFocus
          dir="auto"
          autoComplete="off"
          maxLength={190}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field label={<Trans>Description</Trans>}>
        <TextArea
          dir="auto"
          rows={2}
          maxLength={500}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </Field>
      {(!folder || can('workspaces.write')) && (
        <Choices<Access>
          label={<Trans>Members</Trans>}
          value={access}
          onChange={setAccess}
          choices={[
            { value: 'write', name: t`Change its links` },
            { value: 'read', name: t`See its links` },
            { value: 'none', name: t`Don’t see it` },
          ]}
          hint={
            <Trans>
              Owners and admins change every folder. In Settings → Members, each member can be given other access.
            </Trans>
          }
        />
      )}
    </FormDialog>
  )
}
