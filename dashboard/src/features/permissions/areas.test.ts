import { roleScopes, scopes } from '@tributary/contract/permissions'
import { expect, test } from 'vitest'
import { areaAccess, areas, possibleAccess } from './areas.ts'

test('every scope belongs to an area, except those for all', () => {
  const named = areas.flatMap((area) =>
    possibleAccess(area)
      .filter((access) => access !== 'none')
      .map((access) => `${area}.${access}`),
  )
  expect(named.sort()).toEqual(scopes.filter((scope) => !scope.startsWith('apis.')).sort())
})

test('a viewer reads everything and changes only preferences', () => {
  for (const area of areas) {
    const access = areaAccess(roleScopes.viewer, area)
    if (area === 'preferences') expect(access).toBe('write')
    else expect(access).toBe(possibleAccess(area).includes('read') ? 'read' : 'none')
  }
})

test('an owner has the most that each area allows', () => {
  for (const area of areas) expect(areaAccess(roleScopes.owner, area)).toBe(possibleAccess(area).at(-1))
})
