import { createClient } from '@tributary/contract/client'
import * as designs from '@tributary/contract/qr-designs'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { buildLink, buildMember, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { discFile, scan } from '../../../test/scan.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { deleteLink } from '../links/service.ts'
import { createToken } from '../tokens/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const logo = `data:image/png;base64,${discFile(40).toString('base64')}`

async function open() {
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const params = {
    link: { linkId: link.id },
    domain: { slug: workspace.domain },
    workspace: { idOrSlug: workspace.slug },
  }
  return { workspace, link, call, params }
}

describe('the design of a QR code', () => {
  it('of the link wins over that of its domain, of the workspace, and the default', async () => {
    const { call, params, link } = await open()
    const read = () => call(designs.getLinkQrDesign, { params: params.link })
    expect(await read()).toEqual({
      ...{ design: designs.defaultQrDesign, source: 'default', scans: true },
      qrCode: `${api}/qr?${new URLSearchParams({ url: link.shortLink })}`,
    })
    await call(designs.setWorkspaceQrDesign, { params: params.workspace, body: { fgColor: '#111111' } })
    expect(await read()).toMatchObject({ source: 'workspace', design: { fgColor: '#111111' } })
    await call(designs.setDomainQrDesign, { params: params.domain, body: { fgColor: '#222222' } })
    expect(await read()).toMatchObject({ source: 'domain', design: { fgColor: '#222222', shape: 'square' } })
    const own = { shape: 'dots', markerShape: 'circle', markerColor: '#800000', label: 'Scan', margin: 4 } as const
    const set = await call(designs.setLinkQrDesign, { params: params.link, body: own })
    expect(set).toMatchObject({ source: 'link', scans: true, design: { ...designs.defaultQrDesign, ...own } })
    expect(await read()).toEqual(set)
    expect(await call(designs.getDomainQrDesign, { params: params.domain })).toMatchObject({ source: 'domain' })
    expect(await call(designs.getWorkspaceQrDesign, { params: params.workspace })).toMatchObject({
      source: 'workspace',
    })
    for (const source of ['domain', 'domain'])
      expect(await call(designs.deleteLinkQrDesign, { params: params.link })).toMatchObject({ source })
    await call(designs.deleteDomainQrDesign, { params: params.domain })
    await call(designs.deleteWorkspaceQrDesign, { params: params.workspace })
    expect(await read()).toMatchObject({ source: 'default' })
  })

  it('has a public URL that draws it', async () => {
    const { call, params, link } = await open()
    const body = {
      shape: 'rounded',
      markerShape: 'rounded',
      fgColor: '#203050',
      logo,
      label: 'Spring',
      margin: 4,
    } as const
    const { qrCode } = await call(designs.setLinkQrDesign, { params: params.link, body })
    const png = await fetch(`${qrCode}&size=700`)
    expect(png.status).toBe(200)
    expect(scan(new Uint8Array(await png.arrayBuffer()))).toBe(link.shortLink)
    expect((await fetch(`${qrCode}&format=pdf`)).headers.get('content-type')).toBe('application/pdf')
  })

  it('that a decoder can not read is stored with scans: false', async () => {
    const { call, params } = await open()
    // Markers are darker than the background, modules are lighter.
    const body = { fgColor: '#ffffff', bgColor: '#808080', markerColor: '#000000' }
    expect(await call(designs.setLinkQrDesign, { params: params.link, body })).toMatchObject({ scans: false })
    expect(await call(designs.getLinkQrDesign, { params: params.link })).toMatchObject({ scans: false })
  })

  it.each([
    [{ fgColor: '#ffffff' }, 'in the body are too alike for scanners'],
    [{ label: '日本' }, '`label` in the body has the character'],
    [{ logo: 'http://10.0.0.1/logo.png' }, '`logo` in the body could not be fetched'],
    [{ fgColor: 'red' }, 'fgColor'],
    [{ margin: 21 }, 'margin'],
  ])('422: %j is refused with the reason', async (body, message) => {
    const { call, params } = await open()
    await expect(call(designs.setLinkQrDesign, { params: params.link, body })).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(message),
    })
  })

  it('of a deleted link is deleted, and the audit log has no image', async () => {
    const { call, params, workspace, link } = await open()
    await call(designs.setLinkQrDesign, { params: params.link, body: { logo } })
    const found = await sql<{ text: string }>`SELECT changes::text AS text FROM audit_entries
      WHERE workspace_id = ${workspace.id} AND operation = 'setLinkQrDesign'`.execute(platform.db)
    expect(found.rows[0]?.text).toContain('data:…')
    expect(found.rows[0]?.text).not.toContain('base64')
    await deleteLink(contextIn(platform, workspace.id), link.id)
    await expect(call(designs.getLinkQrDesign, { params: params.link })).rejects.toMatchObject({ status: 404 })
  })

  it('is changed by members for links, and by admins for domains and the workspace', async () => {
    const { workspace, params } = await open()
    const user = await buildMember(platform, workspace, 'member')
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: user.id })
    const call = createClient({ url: api, token: key })
    await call(designs.setLinkQrDesign, { params: params.link, body: {} })
    const refused = { status: 403 }
    await expect(call(designs.setDomainQrDesign, { params: params.domain, body: {} })).rejects.toMatchObject(refused)
    await expect(call(designs.setWorkspaceQrDesign, { params: params.workspace, body: {} })).rejects.toMatchObject(
      refused,
    )
  })
})

describe('checkQrDesign', () => {
  const url = 'https://links.example.com/spring'
  const scanning = { scans: true, problem: null, message: null, fixes: [], cautions: [] }

  it.each<[object, object]>([
    [{}, scanning],
    [
      { fgColor: '#ffffff', bgColor: '#204060' },
      { ...scanning, cautions: ['inverted'] },
    ],
    [
      { fgColor: '#cc7722', bgColor: '#dddddd', margin: 1 },
      { scans: true, cautions: ['margin', 'contrast'] },
    ],
    [
      { fgColor: '#ffffff', bgColor: '#808080', markerColor: '#000000' },
      { scans: false, fixes: ['colors'] },
    ],
    [{ fgColor: '#eeeeee' }, { scans: false, problem: 'fgColor', message: expect.stringContaining('too alike') }],
    [{ markerColor: '#eeeeee' }, { scans: false, problem: 'markerColor' }],
    [{ label: '日本' }, { scans: false, problem: 'label' }],
    [{ logo: 'data:image/png;base64,AAAA' }, { scans: false, problem: 'logo' }],
    [
      { level: 'H', url: 'z'.repeat(2_000) },
      { scans: false, problem: 'url' },
    ],
  ])('200: %j is drawn and decoded', async (body, verdict) => {
    const { call, params } = await open()
    expect(await call(designs.checkQrDesign, { body: { url, ...body } })).toMatchObject(verdict)
    expect(await call(designs.getLinkQrDesign, { params: params.link })).toMatchObject({ source: 'default' })
  })

  it('200: names the changes of which one is enough', async () => {
    const { call } = await open()
    const body = { url: 'z'.repeat(200), margin: 0, label: 'No quiet zone', shape: 'dots' } as const
    const { scans, fixes } = await call(designs.checkQrDesign, { body })
    expect(scans).toBe(false)
    expect(fixes).toContain('margin')
  })

  it('400: a design that is not one is refused', async () => {
    const { call } = await open()
    await expect(call(designs.checkQrDesign, { body: { url, fgColor: 'red' } })).rejects.toMatchObject({ status: 422 })
  })
})
