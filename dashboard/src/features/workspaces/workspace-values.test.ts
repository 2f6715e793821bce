import { expect, test } from 'vitest'
import { findChanged, type Workspace, workspacePatchBody, workspaceValues } from './workspace-values.ts'

const workspace = {
  ...{ name: 'Acme', slug: 'acme', logo: null, contactEmail: 'a@example.com', defaultDomain: null, timeZone: 'UTC' },
  ...{ weekStart: 0, currency: 'usd', attributionDays: 90, attributionModel: 'last-click', ipStorage: null },
} as unknown as Workspace
const values = workspaceValues(workspace)

test('only what differs is sent, as the server takes it', () => {
  expect(workspacePatchBody(values, values)).toEqual({})
  const changed = { ...values, name: ' Acme 2 ', weekStart: '1', contactEmail: '', ipStorage: 'none' }
  expect(workspacePatchBody(values, changed)).toEqual({
    ...{ name: 'Acme 2', weekStart: 1, contactEmail: null, ipStorage: 'none' },
  })
})

test('fields that somebody else changed are found', () => {
  expect(findChanged(values, workspaceValues({ ...workspace, currency: 'eur' }))).toEqual(['currency'])
})
