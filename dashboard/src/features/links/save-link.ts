import { ApiError } from '@tributary/contract/client'
import type { QrDesign } from '@tributary/contract/qr-designs'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { toastError } from '../../ui/toast.tsx'
import { type BuilderValues, linkPatchBody, newLinkBody } from './builder-values.ts'
import type { Link } from './queries.ts'
import { useReadLinksAgain } from './read-again.ts'

/** Creates a link, or changes one as it was when the form opened: a change by somebody else in between is a conflict. */
export function useSaveLink(edited: Link | undefined) {
  const { slug } = useWorkspace()
  const readAgain = useReadLinksAgain()
  const [isSaving, setSaving] = useState(false)
  const [isConflict, setConflict] = useState(false)
  const version = useRef<string>(undefined)
  // Repeating a lost request with the same key creates no second link.
  const idempotencyKey = useRef(randomKey())
  const id = edited?.id
  const updatedAt = edited?.updatedAt
  useEffect(() => {
    if (!id) return
    void call(
      'getLinkInfo',
      { query: { linkId: id }, onHeaders: (headers) => (version.current = headers.get('etag') ?? undefined) },
      slug,
    )
      .then((link) => setConflict(link.updatedAt !== updatedAt))
      .catch(() => undefined)
  }, [id, updatedAt, slug])
  async function save(before: BuilderValues, after: BuilderValues, design?: QrDesign): Promise<Link> {
    setSaving(true)
    try {
      if (!id) {
        const body = newLinkBody(after)
        const link = await call('createLink', { body, headers: { 'idempotency-key': idempotencyKey.current } }, slug)
        // The link exists; a design that could not be stored can be set again.
        if (design) await call('setLinkQrDesign', { params: { linkId: link.id }, body: design }, slug).catch(report)
        return link
      }
      const headers = version.current ? { 'if-match': version.current } : undefined
      return await call('updateLink', { params: { linkId: id }, body: linkPatchBody(before, after), headers }, slug)
    } catch (error) {
      idempotencyKey.current = randomKey()
      setConflict(id !== undefined && error instanceof ApiError && error.status === 409 && !/taken/.test(error.message))
      throw error
    } finally {
      setSaving(false)
      void readAgain()
    }
  }
  const reload = (): Promise<Link> => call('getLinkInfo', { query: { linkId: id } }, slug)
  return { save, isSaving, isConflict, reload }
}

function report(error: unknown): void {
  toastError(error)
}

/** Unlike `randomUUID`, it works on pages without https too. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
