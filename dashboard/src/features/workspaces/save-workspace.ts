import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ApiError } from '@tributary/contract/client'
import { useState } from 'react'
import { call } from '../../app/call.ts'
import { fieldMessage, findErrorField } from '../../app/field-errors.ts'
import { workspacesQuery } from '../../app/session.ts'
import { useWorkspace } from '../../app/workspace.ts'
import {
  findChanged,
  type Workspace,
  type WorkspaceField,
  type WorkspaceValues,
  workspaceFields,
  workspacePatchBody,
  workspaceValues,
} from './workspace-values.ts'

type Outcome = { saved?: Workspace; errors?: Partial<Record<WorkspaceField, string>> }

/** Saves settings as they were when the form opened: a change by somebody else in between is a conflict. */
export function useSaveWorkspace(before: WorkspaceValues) {
  const { slug, id } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [isSaving, setSaving] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [conflict, setConflict] = useState<WorkspaceValues>()

  /** The address of every page has the slug. */
  const follow = async (saved: Workspace) => {
    await client.refetchQueries({ queryKey: workspacesQuery.queryKey })
    if (saved.slug === slug) return client.invalidateQueries({ queryKey: [slug, 'getWorkspace'] })
    await navigate({
      to: '/$workspace/settings/general',
      params: { workspace: saved.slug },
      replace: true,
    })
  }

  async function save(values: WorkspaceValues): Promise<Outcome> {
    setSaving(true)
    setFailure(undefined)
    setConflict(undefined)
    const params = { idOrSlug: id }
    try {
      const current = workspaceValues(await call('getWorkspace', { params }, id))
      if (findChanged(before, current).length > 0) {
        setConflict(current)
        return {}
      }
      const saved = await call('updateWorkspace', { params, body: workspacePatchBody(before, values) }, id)
      void follow(saved)
      return { saved }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const isTaken = error instanceof ApiError && error.status === 409
      const field = isTaken ? 'slug' : findErrorField(error.message, workspaceFields)
      if (!field) setFailure(error.message)
      return field ? { errors: { [field]: fieldMessage(error.message) } } : {}
    } finally {
      setSaving(false)
    }
  }
  return { save, isSaving, failure, conflict }
}
