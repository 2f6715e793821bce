import { describe, expect, test } from 'vitest'
import { describePreview, writeHead } from './html.ts'
import type { OpenShare } from './open.ts'

const share = { title: 'Spring', shortLink: null, sealedPassword: null } as OpenShare
const page = '<head>\n    <title>Shared statistics</title>\n</head>'

describe('describePreview', () => {
  test('shows the title of the owner, or the short link', () => {
    expect(describePreview(share, 'en')).toEqual({ title: 'Spring', description: expect.any(String) })
    const link = { ...share, title: null, shortLink: 'https://go.example/a' }
    expect(describePreview(link, 'de')).toMatchObject({ title: 'go.example/a' })
    expect(describePreview({ ...share, title: null }, 'de')).toMatchObject({ title: 'Geteilte Statistik' })
  })

  test('shows nothing of a page with a password, or of none', () => {
    expect(describePreview({ ...share, sealedPassword: Buffer.of(1) }, 'en')).toEqual({ title: 'Shared statistics' })
    expect(describePreview(undefined, 'en')).toEqual({ title: 'Shared statistics' })
  })
})

test('a hostile title stays text', () => {
  const title = `"></title><script>alert(1)</script> $& $\` ‮'`
  const html = writeHead(page, { title })
  expect(html).not.toContain('<script>')
  expect(html.match(/<title>/g)).toHaveLength(1)
  expect(html).toContain('og:title" content="&#34;&#62;')
  expect(html).toContain('$&#38; $`')
})
