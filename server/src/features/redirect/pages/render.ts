import type { Attempt, Page } from '../decide.ts'
import { parseTarget } from '../destination.ts'
import { type Html, html, joined } from './html.ts'
import { chooseLanguage } from './language.ts'
import { frameStyle, noticeStyle } from './style.ts'
import { type Words, words } from './words.ts'

export type Rendered = { text: string; language: string; policy: string }

/** Renders an HTML page, and a Content-Security-Policy that lets a browser load and run nothing else. */
export function renderPage(page: Page, acceptLanguage: string): Rendered {
  const language = chooseLanguage(acceptLanguage)
  const { title, head = html``, body, style = noticeStyle, policy = noFormPolicy } = pageContent(page, words[language])
  const { markup } = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}<style>${{ markup: style.text }}</style>
</head>
<body>
${body}
</body>
</html>
`
  return { text: markup, language, policy: `${basicPolicy}; style-src '${style.digest}'${policy}` }
}

type Content = { title: string; head?: Html; body: Html; style?: typeof noticeStyle; policy?: string }

const noFormPolicy = "; form-action 'none'"
const basicPolicy = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
// A framed page may navigate to any other site, so frames of any site are allowed.
const framePolicy = "; form-action 'none'; frame-src http: https:"
// Chromium applies `form-action` to the redirect after the form too, and the policy must not reveal the destination.
const formPolicy = "; form-action 'self' http: https:"
const longestTitle = 200
const longestDescription = 500

function pageContent(page: Page, words: Words): Content {
  switch (page.kind) {
    case 'password':
      return passwordForm(page.attempt, words.password)
    case 'app': {
      const { title, text, link } = words.app
      const head = html`<meta http-equiv="refresh" content="0; url=${page.url}">\n`
      return { title, head, body: notice('arrow', title, text, button(page.url, link)) }
    }
    case 'cloak': {
      const title = pageTitle(page)
      const head = metaTags({ description: page.description?.slice(0, longestDescription) })
      const frame = html`<iframe src="${page.url}" title="${title}" allow="${allowed}"></iframe>`
      return { title, head, body: html`<main>${frame}</main>`, style: frameStyle, policy: framePolicy }
    }
    case 'preview':
      return preview(page, words.preview.link)
    default: {
      const { title, text } = words[page.kind]
      return { title, body: notice('chain', title, text) }
    }
  }
}

const allowed = 'clipboard-write; fullscreen; payment'

function passwordForm(attempt: Attempt, words: Words['password']): Content {
  const problem = describeProblem(attempt, words)
  const alert = problem ? html`<p class="bad" id="problem" role="alert">${problem}</p>\n` : html``
  const marks = problem ? html` aria-invalid="true" aria-describedby="problem"` : html``
  const form = html`<form method="post">
<label for="password">${words.label}</label>
${alert}<input id="password" name="password" type="password" maxlength="190" autocomplete="off" required autofocus${marks}>
<button>${words.button}</button>
</form>`
  return { title: words.title, body: notice('lock', words.title, words.text, form), policy: formPolicy }
}

function describeProblem(attempt: Attempt, words: Words['password']): string | undefined {
  if (attempt.outcome === 'limited') return words.limited(Math.ceil(attempt.retryAfter / 60))
  return attempt.outcome === 'wrong' || attempt.outcome === 'foreign' ? words[attempt.outcome] : undefined
}

/** The preview page for crawlers that show a link card; a person who gets it finds a button to the destination. */
function preview(page: Page & { kind: 'preview' }, link: string): Content {
  const title = pageTitle(page)
  const description = page.description?.slice(0, longestDescription)
  const image = webAddress(page.image)
  const head = joined([
    metaTags({ description }),
    metaTags({
      'og:type': 'website',
      'og:title': title,
      'og:description': description,
      'og:image': image,
      'og:video': webAddress(page.video),
      'twitter:card': image ? 'summary_large_image' : 'summary',
      'twitter:title': title,
      'twitter:description': description,
      'twitter:image': image,
    }),
  ])
  return { title, head, body: notice('arrow', title, description ?? '', button(page.url, link)) }
}

function metaTags(tags: Record<string, string | undefined>): Html {
  const given = Object.entries(tags).filter((tag): tag is [string, string] => Boolean(tag[1]))
  return joined(
    given.map(([name, content]) =>
      name.startsWith('og:')
        ? html`<meta property="${name}" content="${content}">\n`
        : html`<meta name="${name}" content="${content}">\n`,
    ),
  )
}

function pageTitle({ title, url }: { title: string | null; url: string }): string {
  return title?.trim().slice(0, longestTitle) || new URL(url).hostname || url
}

function webAddress(stored: string | null): string | undefined {
  const target = stored ? parseTarget(stored) : null
  return target && !target.isApp ? target.url : undefined
}

const icons = {
  chain: html`<path d="M9 15l6-6M11 6l1-1a4.2 4.2 0 0 1 6 6l-1 1M13 18l-1 1a4.2 4.2 0 0 1-6-6l1-1M4 4l16 16"/>`,
  lock: html`<rect x="5" y="11" width="14" height="9" rx="2"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>`,
  arrow: html`<path d="M8 16L18 6M10 6h8v8M14 18v1a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-8a1 1 0 0 1 1-1h1"/>`,
}

function notice(icon: keyof typeof icons, title: string, text: string, more = html``): Html {
  return html`<main>
<svg viewBox="0 0 24 24" aria-hidden="true">${icons[icon]}</svg>
<h1>${title}</h1>
<p>${text}</p>
${more}
</main>`
}

function button(url: string, label: string): Html {
  return html`<a class="button" href="${url}" rel="noreferrer">${label}</a>`
}
