import { readFile } from 'node:fs/promises'
import { browserOperations, openOperations, operations, streamOperations } from '@tributary/contract/index'
import { errorCodes, errorStatuses } from '@tributary/contract/operation'
import { describe, expect, inject, test } from 'vitest'

const { api } = inject('server')
const committed = new URL('../../../../contract/openapi.json', import.meta.url)

type Document = {
  openapi: string
  info: { version: string }
  servers: unknown
  paths: Record<string, Record<string, { operationId: string }>>
}

async function page(path: string) {
  const response = await fetch(api + path)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

describe('/openapi.json', () => {
  test('is the committed document with the address of this server', async () => {
    const { status, type, text } = await page('/openapi.json')
    expect({ status, type }).toEqual({ status: 200, type: 'application/json' })
    const { servers, ...document } = JSON.parse(text) as Document
    const { servers: _, ...expected } = JSON.parse(await readFile(committed, 'utf8')) as Document
    expect(document).toEqual(expected)
    expect(servers).toEqual([{ url: api }])
  })

  test('is OpenAPI 3.1 of version 0.0.1 and tells every operation', async () => {
    const document = JSON.parse((await page('/openapi.json')).text) as Document
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info.version).toBe('0.0.1')
    const told = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    const all = [...operations, ...openOperations, ...browserOperations, ...streamOperations]
    expect(told.sort()).toEqual(all.map(({ id }) => id).sort())
  })
})

describe('/docs', () => {
  test('is a page that loads nothing from elsewhere', async () => {
    const { status, type, text } = await page('/docs')
    expect({ status, type }).toEqual({ status: 200, type: 'text/html; charset=UTF-8' })
    expect(text).toContain('<script src="/docs/reference.js">')
    expect(text).toContain('/openapi.json')
    expect(text).not.toMatch(/["'](?:[a-z]+:)?\/\//i)
  })

  test('its script is there', async () => {
    const { status, type, text } = await page('/docs/reference.js')
    expect({ status, type }).toEqual({ status: 200, type: 'text/javascript; charset=utf-8' })
    expect(text).toContain('createApiReference')
  })
})

describe('/docs/errors', () => {
  test('lists all nine codes with their statuses', async () => {
    const { status, text } = await page('/docs/errors')
    expect(status).toBe(200)
    expect(errorCodes).toHaveLength(9)
    for (const code of errorCodes) {
      expect(text).toContain(
        `<a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${errorStatuses[code]}</td>`,
      )
    }
  })

  test.each(errorCodes)('%s has a page that says when it happens and what to do', async (code) => {
    const { status, type, text } = await page(`/docs/errors/${code}`)
    expect({ status, type }).toEqual({ status: 200, type: 'text/html; charset=UTF-8' })
    expect(text).toContain(`<h1><code>${code}</code></h1>`)
    expect(text).toContain(`Status ${errorStatuses[code]}`)
    expect(text).toMatch(/When it happens<\/h2><p>.{20,}<\/p><h2>What to do<\/h2><p>.{10,}<\/p>/)
  })

  test('the address in an error leads to its page', async () => {
    const response = await fetch(`${api}/nowhere`)
    const { error } = (await response.json()) as { error: { doc_url: string } }
    expect((await fetch(error.doc_url)).status).toBe(200)
  })

  test.each(['/docs/errors/unknown', '/docs/errors/__proto__', '/docs/unknown', '/docs/errors/conflict/x'])(
    '%s is not there',
    async (path) => {
      const { status, text } = await page(path)
      expect(status).toBe(404)
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'not_found' } })
    },
  )
})
