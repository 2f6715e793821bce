import { Dub } from 'dub'
import { expect, inject, test } from 'vitest'
import { buildWorkspace } from '../server/test/build.ts'
import { discFile, scan } from '../server/test/scan.ts'
import { openTestPlatform } from '../server/test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

/** Creates a client that keeps the bytes of each response, because the SDK returns them as text. */
function client(key: string) {
  const answers: Buffer[] = []
  const fetcher = async (input: Request) => {
    const response = await fetch(input)
    answers.push(Buffer.from(await response.clone().arrayBuffer()))
    return response
  }
  const httpClient = {
    request: fetcher,
    addHook: () => httpClient,
    removeHook: () => httpClient,
    clone: () => httpClient,
  }
  return { dub: new Dub({ token: key, serverURL: api, httpClient: httpClient as never }), answers }
}

test('a client of the public SDK gets QR codes', async () => {
  const { key, domain } = await buildWorkspace(platform)
  const { dub, answers } = client(key)
  const link = await dub.links.create({ url: 'https://shop.example/spring', key: 'spring' })

  const text = await dub.qrCodes.get({ url: link.shortLink })
  expect(text).toContain('PNG')
  expect(scan(answers.at(-1) as Buffer)).toBe(`https://${domain}/spring`)

  const logo = `data:image/png;base64,${discFile(40).toString('base64')}`
  await dub.qrCodes.get({
    url: link.shortLink,
    logo,
    size: 400,
    level: 'Q',
    fgColor: '#003366',
    bgColor: '#FFFFFF',
    margin: 4,
  })
  const picture = answers.at(-1) as Buffer
  expect([picture.readUInt32BE(16), scan(picture)]).toEqual([400, `https://${domain}/spring`])

  await expect(dub.qrCodes.get({ url: link.shortLink, fgColor: '#ffffff' })).rejects.toMatchObject({
    name: 'UnprocessableEntity',
    statusCode: 422,
  })
})

test('the qrCode URL of a link returns its code', async () => {
  const { key } = await buildWorkspace(platform)
  const link = await client(key).dub.links.create({ url: 'https://shop.example/summer' })
  const response = await fetch(link.qrCode)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
  const scanned = scan(Buffer.from(await response.arrayBuffer()))
  expect([link.shortLink, `${link.shortLink}?qr=1`]).toContain(scanned)
})
