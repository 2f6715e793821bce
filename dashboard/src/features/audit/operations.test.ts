import { operations } from '@tributary/contract/index'
import { expect, test } from 'vitest'
import { auditedOperations } from './operations.ts'

test('every operation that leaves an entry is offered as a filter', () => {
  const recorded = operations.filter(
    (operation) =>
      operation.kind === 'json' &&
      (operation.isAudited ?? (operation.method !== 'get' && !operation.scope.endsWith('.read'))),
  )
  expect(recorded.map(({ id }) => id).filter((id) => !auditedOperations.includes(id))).toEqual([])
  expect(auditedOperations).toContain('exportAuditLog')
  expect(auditedOperations).not.toContain('trackLead')
})
