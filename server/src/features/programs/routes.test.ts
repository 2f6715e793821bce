import { createClient } from '@tributary/contract/client'
import { listGroups } from '@tributary/contract/groups'
import { createProgram, getProgram, listPrograms, updateProgram } from '@tributary/contract/programs'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('createProgram', () => {
  it('201: creates the program in the currency of the workspace, and its default group', async () => {
    const workspace = await buildWorkspace(platform)
    const program = await as(workspace)(createProgram, { body: { name: ' Friends ', domain: workspace.domain } })
    expect(program).toEqual({
      id: expect.stringMatching(/^prog_/),
      name: 'Friends',
      domain: workspace.domain,
      url: null,
      currency: 'usd',
      minPayoutAmount: 0,
      payoutMode: 'external',
      supportEmail: null,
      termsUrl: null,
      termsVersion: 1,
      helpUrl: null,
      createdAt: instant,
      updatedAt: instant,
    })
    expect(await as(workspace)(listGroups)).toMatchObject([{ slug: 'default', isDefault: true, maxPartnerLinks: 10 }])
    expect(await as(workspace)(listPrograms)).toEqual([program])
    expect(await as(workspace)(listPrograms, { query: { page: 2 } })).toEqual([])
    expect(await as(workspace)(getProgram, { params: { id: program.id } })).toEqual(program)
  })

  it('409: for a second program, also of concurrent requests', async () => {
    const workspace = await buildWorkspace(platform)
    const attempts = Array.from({ length: 5 }, () => as(workspace)(createProgram, { body: { name: 'one' } }))
    const results = await Promise.allSettled(attempts)
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refused).toHaveLength(4)
    for (const error of refused) expect(error).toMatchObject({ status: 409, code: 'conflict' })
    expect(await as(workspace)(listGroups)).toHaveLength(1)
  })

  it('404 and 422: for an unknown domain, and for values that are not allowed', async () => {
    const workspace = await buildWorkspace(platform)
    const create = (body: object) => as(workspace)(createProgram, { body: { name: 'a', ...body } })
    await expect(create({ domain: 'other.example.com' })).rejects.toMatchObject({ status: 404 })
    for (const body of [{ url: 'ftp://x' }, { currency: 'euro' }, { minPayoutAmount: -1 }, { supportEmail: 'x' }])
      await expect(create(body)).rejects.toMatchObject({ status: 422 })
    expect(await as(workspace)(listPrograms)).toEqual([])
  })
})

describe('updateProgram', () => {
  it('200: changes the given fields, and counts versions of the terms', async () => {
    const workspace = await buildWorkspace(platform)
    const program = await buildProgram(platform, workspace)
    const patch = (body: object) => as(workspace)(updateProgram, { params: { id: program.id }, body })
    expect(await patch({})).toEqual(program)
    const terms = { termsUrl: 'https://example.com/terms', minPayoutAmount: 5_000 }
    const changed = { ...program, ...terms, termsVersion: 2, updatedAt: instant }
    expect(await patch(terms)).toEqual(changed)
    expect(await patch(terms)).toMatchObject({ termsVersion: 2 })
    expect(await patch({ domain: null, termsUrl: null })).toMatchObject({ domain: null, termsVersion: 3 })
  })

  it('404: for the program of another workspace', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const { id } = await buildProgram(platform, theirs)
    const patch = as(ours)(updateProgram, { params: { id }, body: { name: 'mine' } })
    await expect(patch).rejects.toMatchObject({ status: 404 })
    await expect(as(ours)(getProgram, { params: { id } })).rejects.toMatchObject({ status: 404 })
  })
})
