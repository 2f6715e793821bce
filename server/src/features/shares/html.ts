import type { Platform } from '../../platform/context.ts'
import { chooseLanguage, openPage, type Preferences } from '../dashboard/service.ts'
import { findShare, type OpenShare } from './open.ts'

type Language = 'en' | 'de'

const texts = {
  en: { title: 'Shared statistics', description: 'Clicks by day, country, device and source.' },
  de: { title: 'Geteilte Statistik', description: 'Klicks nach Tag, Land, Gerät und Quelle.' },
} as const satisfies Record<Language, object>

// What the built page has instead of its head.
const head = '<title>Shared statistics</title>'

/** The page for visitors. Its head has what link previews show; the page itself reads the rest. */
export async function renderShare(platform: Platform, id: string, preferences: Preferences) {
  const share = await findShare(platform, id)
  const { html, status, headers } = await openPage('share.html', preferences)
  const language = chooseLanguage(preferences.language, preferences.accepted)
  return {
    html: writeHead(html, describePreview(share, language)),
    status: status === 200 && !share ? (404 as const) : status,
    headers: {
      ...headers,
      'X-Robots-Tag': 'noindex, nofollow',
      // The address is a secret: no site that the page links to gets it.
      'Referrer-Policy': 'no-referrer',
    },
  }
}

/** The title and description that link previews show; of a page with a password or without statistics, nothing. */
export function describePreview(share: OpenShare | undefined, language: Language) {
  const { title, description } = texts[language]
  if (!share || share.sealedPassword) return { title }
  return { title: share.title ?? share.shortLink?.replace(/^https?:\/\//, '') ?? title, description }
}

/** Writes title and preview into the built page. */
export function writeHead(html: string, { title, description }: { title: string; description?: string }): string {
  const shown = escapeHtml(title)
  const written = [
    `<title>${shown}</title>`,
    `<meta property="og:type" content="website" />`,
    `<meta property="og:title" content="${shown}" />`,
    ...(description === undefined
      ? []
      : [
          `<meta property="og:description" content="${escapeHtml(description)}" />`,
          `<meta name="description" content="${escapeHtml(description)}" />`,
        ]),
  ]
  // A function, because a text could contain `$&`, which stands for the match.
  return html.replace(head, () => written.join('\n    '))
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
