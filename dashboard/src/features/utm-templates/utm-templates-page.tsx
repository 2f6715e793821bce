import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useChange, useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { Message } from '../../ui/message.tsx'
import { RowActions } from '../../ui/row-actions.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { LinksBeside } from '../links/links-beside.tsx'
import { TemplateDialog } from './template-dialog.tsx'
import { type UtmTemplate, utmFields } from './template-fields.ts'

/** UTM values with a name, which the builder fills in. */
export function UtmTemplatesPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const [search, setSearch] = useState('')
  const { data, error, refetch, isPlaceholderData } = useOperation('listUtmTemplates', {
    query: { pageSize: 100, ...(search && { search }) },
  })
  const [dialog, setDialog] = useState<'new' | UtmTemplate>()
  const close = () => setDialog(undefined)
  const remove = useRemoval()
  const canWrite = can('links.write')
  useCommands(
    canWrite ? [{ id: 'utm-templates.new', name: t`Create UTM template`, keys: 'n', run: () => setDialog('new') }] : [],
  )
  const create = canWrite && (
    <Button kind="first" onClick={() => setDialog('new')}>
      <Trans>Create UTM template</Trans>
      <Kbd>N</Kbd>
    </Button>
  )
  return (
    <>
      <ListPage<UtmTemplate>
        title={<Trans>UTM templates</Trans>}
        actions={create}
        beside={
          <LinksBeside
            label={t`Links`}
            pages={[
              ['links', t`All links`],
              ['folders', t`Folders`],
              ['tags', t`Tags`],
            ]}
          />
        }
        search={{ label: t`Search templates`, value: search, onChange: setSearch }}
        items={data}
        itemId={({ id }) => id}
        isDimmed={isPlaceholderData}
        isCut={data?.length === 100}
        failure={error && !data ? <ErrorMessage error={error} retry={() => void refetch()} /> : undefined}
        empty={
          search ? (
            <Message title={<Trans>No template matches</Trans>} />
          ) : (
            <Message title={<Trans>No UTM templates yet</Trans>} action={create}>
              <p>
                <Trans>
                  A template fills in source, medium and campaign, so that everybody writes them the same way and
                  analytics counts them together.
                </Trans>
              </p>
            </Message>
          )
        }
        row={(template) => (
          <TemplateRow
            template={template}
            onEdit={canWrite ? () => setDialog(template) : undefined}
            onRemove={() => void remove(template)}
          />
        )}
      />
      {dialog && <TemplateDialog template={dialog === 'new' ? undefined : dialog} onClose={close} />}
    </>
  )
}

type RowProps = { template: UtmTemplate; onEdit?(): void; onRemove(): void }

function TemplateRow({ template, onEdit, onRemove }: RowProps) {
  const { t } = useLingui()
  const { name } = template
  const values = utmFields.flatMap((field) => (template[field] ? [`${field}=${template[field]}`] : []))
  return (
    <>
      <div className="min-w-0 flex-1 py-1">
        <bdi className="block truncate font-medium">{name}</bdi>
        <bdi className="block truncate font-mono text-xs text-muted">{values.join(' ') || '–'}</bdi>
      </div>
      {onEdit && (
        <RowActions labels={{ edit: t`Edit ${name}`, remove: t`Delete ${name}` }} onEdit={onEdit} onRemove={onRemove} />
      )}
    </>
  )
}

/** Deletes a template, with Undo; links keep the values that they took over. */
function useRemoval() {
  const { t } = useLingui()
  const deleting = useChange('deleteUtmTemplate', ['listUtmTemplates'])
  const creating = useChange('createUtmTemplate', ['listUtmTemplates'])
  return async (template: UtmTemplate) => {
    const { id, name } = template
    const values = Object.fromEntries(utmFields.map((field) => [field, template[field]]))
    try {
      await deleting.mutateAsync({ params: { id } })
      toast({
        title: t`Deleted the template ${name}`,
        detail: t`Links keep their UTM values.`,
        undo: () => creating.mutate({ body: { name, ...values } }),
      })
    } catch (error) {
      toastError(error)
    }
  }
}
