import { expect, test } from 'vitest'
import { inspectPage } from './inspect.ts'

const url = 'https://shop.example/'
const api = 'https://api.example'
const tag = `<script defer src="${api}/tracker.0123456789abcdef.js" integrity="sha384-x" crossorigin></script>`

function inspect(html: string, headers: Record<string, string> = {}, status = 200) {
  const page = { url, status, headers: { 'content-type': 'text/html', ...headers }, body: Buffer.from(html) }
  const { tag, scriptUrl, blockedBy } = inspectPage(url, page, api)
  return { tag, scriptUrl, blockedBy }
}

test.each([
  tag,
  `<SCRIPT SRC='${api}/tracker.js'></SCRIPT>`,
  `<script type=module src=${api}/tracker.mjs></script>`,
  `<script src="https://cdn.example/tracker.js" data-api="${api}"></script>`,
  `<script src="https://other.example/tracker.js"></script>${tag}`,
])('%s is found', (html) => {
  expect(inspect(`<!doctype html><head>${html}</head>`)).toMatchObject({ tag: 'found', blockedBy: null })
})

test('a tag for another server is told with its URL', () => {
  const other = 'https://other.example/tracker.js'
  expect(inspect(`<script src="${other}"></script>`)).toEqual({ tag: 'elsewhere', scriptUrl: other, blockedBy: null })
})

test.each(['', '<script src="/app.js"></script>', '<script src="::"></script>', '<a href="/tracker.js">x</a>'])(
  'a page with %j has no tag',
  (html) => {
    expect(inspect(html)).toEqual({ tag: 'missing', scriptUrl: null, blockedBy: null })
  },
)

test('policies in the header and in the page count', () => {
  const own = "script-src 'self'"
  expect(inspect(tag, { 'content-security-policy': own })).toMatchObject({ blockedBy: 'script-src' })
  expect(inspect(tag, { 'content-security-policy': `default-src *, ${own}` })).toMatchObject({
    blockedBy: 'script-src',
  })
  const meta = `<meta http-equiv="Content-Security-Policy" content="connect-src 'self'">`
  expect(inspect(`${meta}${tag}`)).toMatchObject({ tag: 'found', blockedBy: 'connect-src' })
})

test('a page that failed says only its status, and one that could not be read not even that', () => {
  expect(inspectPage(url, { url, status: 404, headers: {}, body: Buffer.from(tag) }, api)).toEqual({
    ...{ url, status: 404, tag: null, scriptUrl: null, blockedBy: null },
  })
  expect(inspectPage(url, undefined, api)).toMatchObject({ url, status: null, tag: null })
})
