import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../../app/call.ts'
import { fieldMessage } from '../../app/field-errors.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { cleanHostnames } from '../tokens/hostnames.ts'

/** The hosts whose pages may send clicks, leads and sales. A change by somebody else meanwhile is not overwritten. */
export function HostsForm({ hostnames }: { hostnames: readonly string[] }) {
  const { t } = useLingui()
  const { slug, can } = useWorkspace()
  const client = useQueryClient()
  const [text, setText] = useState(hostnames.join('\n'))
  const [error, setError] = useState<string>()
  const [isConflict, setConflict] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const isReadOnly = !can('workspaces.write')
  const isChanged = text !== hostnames.join('\n')
  const readAgain = () => client.invalidateQueries({ queryKey: [slug, 'getWorkspace'] })
  const save = async () => {
    const params = { idOrSlug: slug }
    const current = await call('getWorkspace', { params }, slug)
    if (current.allowedHostnames.join() !== hostnames.join()) return setConflict(true)
    await call('updateWorkspace', { params, body: { allowedHostnames: cleanHostnames(text) ?? [] } }, slug)
    toast({ title: t`Saved the allowed hosts` })
    await readAgain()
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isSaving || !isChanged) return
    setSaving(true)
    setError(undefined)
    try {
      await save()
    } catch (error) {
      setError(fieldMessage(error instanceof Error ? error.message : String(error)))
    } finally {
      setSaving(false)
    }
  }
  return (
    <Section
      title={<Trans>Allowed hosts</Trans>}
      description={
        <Trans>
          Pages that may send clicks, leads and sales for this workspace. Calls from your server need no entry.
        </Trans>
      }
    >
      <form noValidate onSubmit={(event) => void submit(event)} className="flex max-w-200 flex-col gap-3">
        {isConflict && (
          <Notice
            action={
              <Button size="small" onClick={() => void readAgain()}>
                <Trans>Load again</Trans>
              </Button>
            }
          >
            <Trans>
              Somebody changed the hosts while you edited them. Load them again to see the change; yours is not saved.
            </Trans>
          </Notice>
        )}
        <Field
          label={<Trans>Host names</Trans>}
          error={error}
          hint={
            <Trans>
              One per line, such as example.com and *.example.com; ten at most. If this is empty, every page may send
              clicks, and no page can send leads and sales with a publishable key.
            </Trans>
          }
        >
          <TextArea
            rows={3}
            disabled={isReadOnly}
            autoCapitalize="none"
            spellCheck={false}
            placeholder="example.com"
            maxLength={3_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        {!isReadOnly && (
          <span>
            <Button type="submit" disabled={!isChanged || isSaving}>
              <Trans>Save hosts</Trans>
            </Button>
          </span>
        )}
      </form>
    </Section>
  )
}
