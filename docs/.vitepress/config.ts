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
  // Keeps the inline script equal in all pages, so that the content security policy can contain its hash.
  metaChunk: true,
  markdown: { languageAlias: { caddyfile: 'nginx', metadata: 'js' } },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/docs/logo.svg' }]],
  themeConfig: {
    logo: '/logo.svg',
    // Search covers guides only; decisions have their own list.
    search: {
      provider: 'local',
      options: { _render: (text, env, md) => (isDecision(env) ? '' : md.render(text, env)) },
    },
    notFound: {
      title: 'No such page',
      quote: 'This page does not exist or has moved. Search for it (Ctrl K), or go to the home page.',
      linkText: 'Home page',
      linkLabel: 'home page',
    },
    outline: [2, 3],
    // The server serves the reference at this path; it is not built here.
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
    section('Start', ['quick-start', 'guides/first-run', 'concepts']),
    section('Add tracking', ['guides/tracking', 'guides/nextjs', 'guides/shop', 'guides/mobile', 'guides/migrating']),
    section('Use the API', [
      'guides/members',
      'guides/api-keys',
      'guides/links',
      'guides/compatibility',
      'guides/watch-events',
      'guides/reading-events',
      'guides/customers',
      'guides/analytics',
      'guides/filters',
      'guides/sharing',
      'guides/public-stats',
      'guides/webhooks',
      'guides/notifications',
      'guides/qr',
      'guides/idempotency',
      'guides/audit-log',
      'guides/errors',
    ]),
    section('Pay partners', ['guides/partner-program', 'guides/rewards']),
    section('Run it', [
      'guides/self-hosting',
      'guides/domains',
      'guides/configuration',
      'guides/operating',
      'guides/observability',
      'guides/backup',
      'guides/scaling',
      'guides/sign-in',
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

/** Existing pages with their titles. */
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

/** Only this page is rendered by the script. */
function withoutScript(html: string): string {
  const text = '<h1>No such page</h1><p><a href="/docs/">Home page</a></p>'
  return html.replace(
    '<div id="app">',
    `<noscript><div class="vp-doc" style="padding: 2rem">${text}</div></noscript>$&`,
  )
}

/** The server sends these precompressed files instead of compressing each response. */
function pack(folder: string): void {
  for (const name of globSync('**/*.{html,js,css,svg,json}', { cwd: folder })) {
    const file = join(folder, name)
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
  }
}
