import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Page } from '../decide.ts'
import { languages } from './language.ts'
import { renderPage } from './render.ts'
import { words } from './words.ts'

const url = 'https://example.com/page?a=b&c="d"#part'
const card = {
  title: 'Spring & summer',
  description: '<b>50 %</b> off',
  image: 'https://example.com/i.png',
  video: null,
}
const pages: Page[] = [
  ...(['not-found', 'banned', 'disabled', 'expired', 'unavailable'] as const).map((kind) => ({ kind })),
  { kind: 'password', attempt: { outcome: 'none' } },
  { kind: 'password', attempt: { outcome: 'wrong' } },
  { kind: 'password', attempt: { outcome: 'foreign' } },
  { kind: 'password', attempt: { outcome: 'limited', retryAfter: 61 } },
  { kind: 'app', url: 'myapp://open?a="b"' },
  { kind: 'cloak', url, title: 'Shop', description: 'All you need' },
  { kind: 'preview', url, ...card },
]
const named = pages.map((page) => [`${page.kind} ${'attempt' in page ? page.attempt.outcome : ''}`, page] as const)

describe.each(named)('%s', (_name, page) => {
  test.each(languages)('page is small and complete in %s, and declares its language', (language) => {
    const { text, language: expected } = renderPage(page, language)
    expect(expected).toBe(language)
    expect(Buffer.byteLength(text)).toBeLessThan(6_000)
    expect(text).toMatch(new RegExp(`^<!doctype html>\n<html lang="${language}">`))
    expect(text.match(/<title>[^<]+<\/title>/g)).toHaveLength(1)
    expect(text.match(/<main>/g)).toHaveLength(1)
    expect(text.match(/<h1>[^<]+<\/h1>/g) ?? []).toHaveLength(page.kind === 'cloak' ? 0 : 1)
    expect(text).not.toContain('undefined')
  })

  test('page loads nothing, runs nothing, and its policy allows its style', () => {
    const { text, policy } = renderPage(page, '')
    expect(text).not.toMatch(/<(?:script|link|img|object|embed)\b| on\w+=| style=|url\(/)
    const [, style = ''] = text.match(/<style>(.*)<\/style>/s) ?? []
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain(`style-src 'sha256-${hash('sha256', style, 'base64')}'`)
    expect(policy.includes('frame-src')).toBe(page.kind === 'cloak')
    expect(policy.includes("form-action 'none'")).toBe(page.kind !== 'password')
  })
})

test('every language has its own text for each page', () => {
  const texts = (value: unknown): unknown[] =>
    typeof value === 'function'
      ? [value(7)]
      : typeof value === 'object' && value
        ? Object.values(value).flatMap(texts)
        : [value]
  const counts = languages.map((language) => texts(words[language]).length)
  expect(new Set(counts).size).toBe(1)
  for (const language of languages) for (const text of texts(words[language])) expect(text).toMatch(/\S/)
  for (const page of ['not-found', 'expired', 'password'] as const) {
    expect(new Set(languages.map((language) => words[language][page].title)).size).toBe(languages.length)
  }
})

test('the password form says what was wrong', () => {
  const form = (page: Page) => renderPage(page, 'en').text
  const asked = form({ kind: 'password', attempt: { outcome: 'none' } })
  expect(asked).toContain('<form method="post">')
  expect(asked).toContain('<label for="password">Password</label>')
  expect(asked).not.toMatch(/role="alert"|aria-invalid/)
  const wrong = form({ kind: 'password', attempt: { outcome: 'wrong' } })
  expect(wrong).toContain('id="problem" role="alert">That is not the password. Try again.</p>')
  expect(wrong).toContain('aria-invalid="true" aria-describedby="problem"')
  const limited = form({ kind: 'password', attempt: { outcome: 'limited', retryAfter: 61 } })
  expect(limited).toContain('Try again in 2\u00a0min.')
})

test('the app page opens the app at once, or with a button', () => {
  const { text } = renderPage({ kind: 'app', url: 'mailto:a@b.example?subject="Hi"&body=x' }, '')
  const escaped = 'mailto:a@b.example?subject=&quot;Hi&quot;&amp;body=x'
  expect(text).toContain(`<meta http-equiv="refresh" content="0; url=${escaped}">`)
  expect(text).toContain(`<a class="button" href="${escaped}" rel="noreferrer">Open</a>`)
})

describe('the preview', () => {
  const preview = (given: Partial<typeof card> | object) =>
    renderPage({ kind: 'preview', url, title: null, description: null, image: null, video: null, ...given }, '').text

  test('has the tags of link cards', () => {
    const text = preview({ ...card, video: 'https://example.com/v.mp4' })
    for (const tag of [
      '<meta name="description" content="&lt;b&gt;50 %&lt;/b&gt; off">',
      '<meta property="og:title" content="Spring &amp; summer">',
      '<meta property="og:description" content="&lt;b&gt;50 %&lt;/b&gt; off">',
      '<meta property="og:image" content="https://example.com/i.png">',
      '<meta property="og:video" content="https://example.com/v.mp4">',
      '<meta name="twitter:card" content="summary_large_image">',
      '<meta name="twitter:title" content="Spring &amp; summer">',
      '<meta name="twitter:image" content="https://example.com/i.png">',
    ]) {
      expect(text).toContain(tag)
    }
  })

  test("is a small card without an image, and uses the destination's host without a title", () => {
    const text = preview({})
    expect(text).toContain('<meta name="twitter:card" content="summary">')
    expect(text).toContain('<meta property="og:title" content="example.com">')
    expect(text).not.toMatch(/og:(?:image|video|description)/)
  })

  test('shows no image without a web URL', () => {
    for (const image of ['javascript:0', 'data:image/png;base64,AAAA', 'i.png']) {
      expect(preview({ image })).not.toContain('og:image')
    }
  })
})

describe('untrusted text', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.constantFrom(
      '</title><script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      "'--!>",
      '<!--',
      '&lt;',
      '\0\ud800',
    ),
  )
  const hostileUrl = hostile.map(
    (text) => `https://example.com/${encodeURI(text.toWellFormed())}"'<>&${text.toWellFormed().replaceAll(/\s/g, '')}`,
  )
  /** The structure of a page: every tag with its attribute names. */
  const structure = (text: string) => [...text.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/="[^"]*"/g, '='))

  test.each<[string, (text: string, url: string) => Page]>([
    [
      'a preview',
      (text, url) => ({ kind: 'preview', url, title: `x${text}`, description: `x${text}`, image: null, video: null }),
    ],
    ['a frame', (text, url) => ({ kind: 'cloak', url, title: `x${text}`, description: `x${text}` })],
    ['an app', (text) => ({ kind: 'app', url: `myapp:${text}` })],
  ])("can't change the structure of %s", (_name, made) => {
    const plain = structure(renderPage(made('plain', 'https://example.com/'), '').text)
    fc.assert(
      fc.property(hostile, hostileUrl, (text, url) => {
        const rendered = renderPage(made(text, url), '').text
        expect(structure(rendered)).toEqual(plain)
        expect(rendered.isWellFormed()).toBe(true)
        expect(rendered).not.toMatch(/<script|<img|\0/)
      }),
    )
  })

  test('is truncated when it is a long title or description', () => {
    const long = 'long '.repeat(10_000)
    const { text } = renderPage({ kind: 'preview', url, title: long, description: long, image: null, video: null }, '')
    expect(Buffer.byteLength(text)).toBeLessThan(8_000)
  })
})
