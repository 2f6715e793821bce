import { useLingui } from '@lingui/react/macro'
import { ApiError } from '@tributary/contract/client'
import { useState } from 'react'
import { call } from '../../app/call.ts'
import { fieldMessage, findErrorField } from '../../app/field-errors.ts'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import {
  changedElsewhere,
  type DomainField,
  type DomainValues,
  domainFields,
  domainPatchBody,
  domainValues,
  newDomainBody,
  withScheme,
} from './domain-values.ts'
import { type Domain, domainsQuery, useReadDomainsAgain } from './queries.ts'

type Outcome = { saved?: string; errors?: Partial<Record<DomainField, string>> }

/** Adds a domain, or changes one as it was when the form opened: a change by somebody else in between is a conflict. */
export function useSaveDomain(opened: Domain | undefined) {
  const { t } = useLingui()
  const { slug: workspace } = useWorkspace()
  const readAgain = useReadDomainsAgain()
  const [isSaving, setSaving] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [conflict, setConflict] = useState<Domain>()
  const root = useRootLink(opened?.slug)

  const change = async (domain: Domain, values: DomainValues): Promise<string | undefined> => {
    const before = domainValues(domain, values.rootUrl)
    const [current] = (await call('listDomains', { query: domainsQuery(domain.slug, true) }, workspace)).filter(
      ({ id }) => id === domain.id,
    )
    if (current && changedElsewhere(before, domainValues(current, values.rootUrl)).length > 0) {
      setConflict(current)
      return undefined
    }
    const body = domainPatchBody(before, values)
    if (Object.keys(body).length === 0) return domain.slug
    return (await call('updateDomain', { params: { slug: domain.slug }, body }, workspace)).slug
  }

  /** The bare domain leads where its link `_root` leads. */
  const saveRoot = async (domain: string, url: string): Promise<void> => {
    const { id: linkId, url: before = '' } = root.link ?? {}
    if (url === before) return
    if (!linkId) await call('createLink', { body: { domain, key: '_root', url: withScheme(url) } }, workspace)
    else if (url === '') await call('deleteLink', { params: { linkId } }, workspace)
    else await call('updateLink', { params: { linkId }, body: { url: withScheme(url) } }, workspace)
  }

  async function save(values: DomainValues): Promise<Outcome> {
    setSaving(true)
    setFailure(undefined)
    setConflict(undefined)
    let field: DomainField = 'slug'
    try {
      const saved = opened
        ? await change(opened, values)
        : (await call('createDomain', { body: newDomainBody(values) }, workspace)).slug
      if (saved === undefined) return {}
      field = 'rootUrl'
      await saveRoot(saved, values.rootUrl.trim())
      return { saved }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const isOfField = error instanceof ApiError && (error.status === 409 || field === 'rootUrl')
      const named = isOfField ? field : findErrorField(error.message, domainFields)
      if (!named) setFailure(error.message)
      if (field === 'rootUrl' && !opened) setFailure(t`The domain was added, but its root address was not saved.`)
      return named ? { errors: { [named]: fieldMessage(error.message) } } : {}
    } finally {
      setSaving(false)
      void readAgain()
    }
  }
  return { save, isSaving, failure, conflict, rootUrl: root.link?.url }
}

/** The link of the bare domain; undefined while it loads and when there is none. */
export function useRootLink(slug: string | undefined) {
  const { can } = useWorkspace()
  const { data: found, isPlaceholderData } = useOperation(
    'getLinks',
    { query: { domain: slug, search: '_root', pageSize: 10 } },
    { enabled: slug !== undefined && can('links.read') },
  )
  return { link: isPlaceholderData ? undefined : found?.find(({ key }) => key === '_root') }
}
