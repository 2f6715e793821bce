import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type DefaultTheme, defineConfig, type MarkdownEnv } from 'vitepress'
import { errorCodes } from '../../contract/src/operation.ts'

const docs = join(import.meta.dirname, '..')

export default defineConfig({
  title: 'Tributary',
  description: 'Link attribution that you run yourself',
  lang: 'en',
  base: '/docs/',
  outDir: join(docs, 'dist'),
  srcExclude: ['README.md', 'releasing.md', 'dist/**'],
  cleanUrls: true,
  // Keeps the one script within the pages the same in all of them, so that a hash of it can be in the policy.
  metaChunk: true,
  markdown: { languageAlias: { caddyfile: 'nginx', metadata: 'js' } },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/docs/logo.svg' }]],
  themeConfig: {
    logo: '/logo.svg',
    // Who looks for a word wants a guide. Decisions have a list of their own.
    search: {
      provider: 'local',
      options: { _render: (text, env, md) => (isDecision(env) ? '' : md.render(text, env)) },
    },
    notFound: {
      title: 'No such page',
      quote: 'The address may have changed, or never was right. Look for a word of it (Ctrl K), or begin at the start.',
      linkText: 'To the start',
      linkLabel: 'to the start',
    },
    outline: [2, 3],
    // The server has the reference at this address; it is not made here.
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Guides', link: '/guides/tracking', activeMatch: '^/guides/' },
      { text: 'API reference', link: '/reference', target: '_self', noIcon: true },
    ],
    sidebar: sidebar(),
    footer: { message: 'Apache-2.0. IP geolocation by <a href="https://db-ip.com">DB-IP</a>.' },
  },
  transformHtml: (html, _, { page }) => (page === '404.md' ? withoutScript(html) : undefined),
  buildEnd: ({ outDir }) => pack(outDir),
})

function sidebar(): DefaultTheme.SidebarItem[] {
  return [
    section('Start', ['quick-start', 'concepts']),
    section('Add tracking', ['guides/tracking', 'guides/nextjs', 'guides/shop', 'guides/mobile', 'guides/migrating']),
    section('Use the API', [
      'guides/links',
      'guides/compatibility',
      'guides/reading-events',
      'guides/analytics',
      'guides/filters',
      'guides/public-stats',
      'guides/webhooks',
      'guides/qr',
      'guides/idempotency',
      'guides/errors',
    ]),
    section('Run it', [
      'guides/self-hosting',
      'guides/domains',
      'guides/configuration',
      'guides/operating',
      'guides/observability',
      'guides/backup',
      'guides/scaling',
      'guides/privacy',
      'guides/security',
    ]),
    {
      text: 'Reference',
      collapsed: true,
      items: [
        { text: 'API reference', link: '/reference', target: '_self' },
        { text: 'Errors', link: '/errors/' },
        ...errorCodes.map((code) => ({ text: code, link: `/errors/${code}` })),
      ],
    },
    section('Decisions', ['adr/index', ...pagesIn('adr')], true),
  ]
}

/** Pages that exist, by their own titles. */
function section(text: string, pages: string[], collapsed = false): DefaultTheme.SidebarItem {
  const items = pages
    .filter((page) => existsSync(join(docs, `${page}.md`)))
    .map((page) => ({ text: titleOf(page), link: `/${page.replace(/index$/, '')}` }))
  return { text, items, collapsed }
}

function pagesIn(folder: string): string[] {
  const names = globSync(`${folder}/[0-9]*.md`, { cwd: docs }).sort()
  return names.map((name) => name.replace(/\.md$/, ''))
}

function titleOf(page: string): string {
  const [, title = page] = readFileSync(join(docs, `${page}.md`), 'utf8').match(/^# (.+)$/m) ?? []
  return title
}

function isDecision({ relativePath }: MarkdownEnv): boolean {
  return relativePath.startsWith('adr/')
}

/** Of all pages only this one is left to the script. */
function withoutScript(html: string): string {
  const text = '<h1>No such page</h1><p><a href="/docs/">To the start</a></p>'
  return html.replace(
    '<div id="app">',
    `<noscript><div class="vp-doc" style="padding: 2rem">${text}</div></noscript>$&`,
  )
}

/** The server hands these out as they are, instead of packing at every request. */
function pack(folder: string): void {
  for (const name of globSync('**/*.{html,js,css,svg,json}', { cwd: folder })) {
    const file = join(folder, name)
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
  }
}
