import { plural } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import type { OperationAnswer } from '@tributary/contract/client'
import { useState } from 'react'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { useReadLinksAgain } from '../links/read-again.ts'
import type { NewBulkOperation } from './bulk-filter.ts'

export type BulkOperation = OperationAnswer<'createBulkOperation'>
export type BulkChange = Omit<NewBulkOperation, 'filter' | 'dryRun'>

const pollMs = 400

/** Runs bulk operations to their end, and offers to undo them. */
export function useBulk() {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const readAgain = useReadLinksAgain()
  const [running, setRunning] = useState<BulkOperation>()
  const finish = async (begin: () => Promise<BulkOperation>): Promise<BulkOperation> => {
    try {
      let operation = await begin()
      while (operation.id && ['running', 'undoing'].includes(operation.status)) {
        setRunning(operation)
        await new Promise((resolve) => setTimeout(resolve, pollMs))
        operation = await call('getBulkOperation', { params: { id: operation.id } }, slug)
      }
      return operation
    } finally {
      setRunning(undefined)
      await readAgain()
    }
  }
  const report = (error: unknown) => toastError(error)
  const undo = async (id: string) => {
    try {
      const { undone, conflicts } = await finish(() => call('undoBulkOperation', { params: { id } }, slug))
      const detail =
        conflicts > 0
          ? plural(conflicts, {
              one: '# link was changed by somebody since and stays as it is.',
              other: '# links were changed by somebody since and stay as they are.',
            })
          : undefined
      toast({ title: t`Undone for ${plural(undone, { one: '# link', other: '# links' })}`, detail })
    } catch (error) {
      report(error)
    }
  }
  const preview = (filter: NewBulkOperation['filter'], change: BulkChange) =>
    call('createBulkOperation', { body: { ...change, filter, dryRun: true } }, slug)
  const run = async (filter: NewBulkOperation['filter'], change: BulkChange) => {
    try {
      const done = await finish(() => call('createBulkOperation', { body: { ...change, filter } }, slug))
      if (done.status === 'failed') return report(new Error(done.error ?? t`The operation failed.`))
      const { id, changed, failed, problems } = done
      toast({
        title: t`Changed ${plural(changed, { one: '# link', other: '# links' })}`,
        detail: failed > 0 ? t`${failed} could not be changed: ${problems[0]?.message ?? ''}` : undefined,
        undo: id === null ? undefined : () => undo(id),
      })
    } catch (error) {
      report(error)
    }
  }
  return { preview, run, running }
}
