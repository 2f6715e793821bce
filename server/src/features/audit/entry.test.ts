import { describe, expect, test } from 'vitest'
import { describeWrite, largestChanges, personsIn, storeChanges } from './entry.ts'

const seal = (person: string, value: unknown) => ({ $person: person, $sealed: JSON.stringify(value) })
const store = (kind: string, change: { before?: object; after?: object }) =>
  storeChanges([{ kind, id: 'x_1', ...change }], seal)[0]

test('an update has the changed fields before and after', () => {
  const before = { name: 'a', color: 'red', updated_at: new Date(0) }
  expect(store('tags', { before, after: { name: 'b', color: 'red', updated_at: new Date(1) } })).toEqual({
    kind: 'tags',
    id: 'x_1',
    before: { name: 'a' },
    after: { name: 'b' },
  })
})

test('columns of rows have the names of the API, and values of JSON', () => {
  const row = {
    expired_url: 'https://a.example/',
    amount: 5n,
    expires_at: new Date(0),
    utm_source: 'x',
    folder_id: null,
  }
  expect(store('links', { after: row })?.after).toEqual({
    expiredUrl: 'https://a.example/',
    amount: 5,
    expiresAt: '1970-01-01T00:00:00.000Z',
    utm_source: 'x',
  })
})

test.each([
  [{ password: 'p' }, { password: { $redacted: 'secret' } }],
  [{ sealed_password: Buffer.from('p') }, { password: { $redacted: 'secret' } }],
  [{ data: { password: 'p', url: 'u' } }, { data: { password: { $redacted: 'secret' }, url: 'u' } }],
  [{ secret: 'whsec_x' }, { secret: { $redacted: 'secret' } }],
  [{ note: 'trib_abc' }, { note: { $redacted: 'secret' } }],
  [{ items: [{ password: 'p' }] }, { items: [{ password: { $redacted: 'secret' } }] }],
])('%j has no secret', (after, stored) => {
  expect(store('links', { after })?.after).toEqual(stored)
})

test('a changed secret appears as changed, on both sides', () => {
  const [one, other] = [Buffer.from('one'), Buffer.from('other')]
  expect(store('webhooks', { before: { sealed_secret: one }, after: { sealed_secret: other } })).toMatchObject({
    before: { secret: { $redacted: 'secret' } },
    after: { secret: { $redacted: 'secret' } },
  })
})

describe('personal values', () => {
  test('are encrypted for the person that changed', () => {
    const change = {
      kind: 'customers',
      id: 'cus_1',
      before: { name: 'Ann' },
      after: { name: 'Bob', email: 'b@x.example' },
    }
    expect(storeChanges([change], seal)).toEqual([
      {
        kind: 'customers',
        id: 'cus_1',
        before: { name: seal('cus_1', 'Ann'), email: null },
        after: { name: seal('cus_1', 'Bob'), email: seal('cus_1', 'b@x.example') },
      },
    ])
    expect(personsIn([change])).toEqual(['cus_1'])
  })

  test('of others are left out', () => {
    const after = { customer: { externalId: 'ann', name: 'Ann' }, amount: 5 }
    expect(store('commissions', { after })?.after).toEqual({ customer: { $redacted: 'personal' }, amount: 5 })
  })

  test('the name of a tag is not personal', () => {
    expect(store('tags', { after: { name: 'sale' } })?.after).toEqual({ name: 'sale' })
  })
})

test('of large changes the largest values are left out, and larger ones are not stored at all', () => {
  const after = { comments: 'x'.repeat(largestChanges), archived: true }
  expect(store('links', { after })?.after).toEqual({ comments: { $redacted: 'size' }, archived: true })
  const many = Array.from({ length: 2_000 }, (_, index) => ({ kind: 'links', id: `link_${index}`, after }))
  expect(storeChanges(many, seal)).toEqual([])
})

describe('targets', () => {
  const id = 'link_01a1e696-c244-72c7-9e60-599113ae9a1d'
  test.each([
    [{ result: { id: 'tag_1' }, params: { id: 'ext_ann' } }, ['tag_1']],
    [{ result: [{ id: 'a' }, { error: 'taken' }, { id: 'b' }] }, ['a', 'b']],
    [{ params: { id: 'tag_1' } }, ['tag_1']],
    [{ params: { id: 'ext_ann' } }, []],
    [{ body: { linkIds: [id, 'ext_ann'], data: {} } }, [id]],
  ])('of %j', (performed, ids) => {
    expect(describeWrite('links', [], performed).targetIds).toEqual(ids)
  })

  test('are those that the service reported', () => {
    const { targetIds, changes } = describeWrite('links', [{ id: 'a' }, { id: 'a' }], { result: { id: 'b' } })
    expect(targetIds).toEqual(['a'])
    expect(changes).toEqual([
      { id: 'a', kind: 'links' },
      { id: 'a', kind: 'links' },
    ])
  })
})
