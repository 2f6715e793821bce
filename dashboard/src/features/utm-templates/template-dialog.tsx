import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { type UtmField, type UtmTemplate, utmFields } from './template-fields.ts'

/** Creates a UTM template, or changes one. */
export function TemplateDialog({ template, onClose }: { template?: UtmTemplate; onClose(): void }) {
  const create = useChange('createUtmTemplate', ['listUtmTemplates'])
  const update = useChange('updateUtmTemplate', ['listUtmTemplates'])
  const [name, setName] = useState(template?.name ?? '')
  const [values, setValues] = useState(
    () => Object.fromEntries(utmFields.map((field) => [field, template?.[field] ?? ''])) as Record<UtmField, string>,
  )
  const body = {
    name: name.trim(),
    ...Object.fromEntries(utmFields.map((field) => [field, values[field].trim() || null])),
  }
  return (
    <FormDialog
      title={template ? <Trans>Edit UTM template</Trans> : <Trans>Create UTM template</Trans>}
      submit={template ? <Trans>Save template</Trans> : <Trans>Create template</Trans>}
      isReady={name.trim() !== ''}
      onSubmit={() =>
        template ? update.mutateAsync({ params: { id: template.id }, body }) : create.mutateAsync({ body })
      }
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
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        {utmFields.map((field) => (
          <Field key={field} label={field}>
            <TextInput
              autoComplete="off"
              maxLength={255}
              value={values[field]}
              onChange={(event) => setValues({ ...values, [field]: event.target.value })}
            />
          </Field>
        ))}
      </div>
      {template && (
        <p className="text-xs text-muted">
          <Trans>Links that used the template keep their values.</Trans>
        </p>
      )}
    </FormDialog>
  )
}
