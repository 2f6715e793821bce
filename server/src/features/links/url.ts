import { readParameters } from '../../platform/query-string.ts'

/** URL schemes that open an app; none of them can run a script or read a file. */
const appSchemes = new Set(
  `mailto: tel: sms: facetime: facetime-audio: geo: maps: whatsapp: tg: signal: sgnl: viber: line: weixin: xmpp: sip: sips:
  skype: slack: msteams: zoommtg: zoomus: discord: fb: fb-messenger: instagram: twitter: tiktok: snapchat: pinterest:
  linkedin: reddit: youtube: vnd.youtube: spotify: music: podcast: itms: itms-apps: itms-appss: market: intent: bitcoin:
  ethereum: lightning: magnet: webcal: notion: figma: obsidian: vscode:`.split(/\s+/),
)

export const utmNames = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const
export type UtmName = (typeof utmNames)[number]

/** The reason why a destination URL is not allowed, or undefined. */
export function urlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return 'must be an absolute URL such as https://example.com/page'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: rejects control characters
  if (/[\u0000-\u001f\u007f]/.test(url)) return 'must not contain control characters'
  if (!url.isWellFormed()) return 'must not contain half of a surrogate pair'
  const { protocol, username, password } = new URL(url)
  if (username || password) return 'must not contain a user name or password'
  if (protocol === 'http:' || protocol === 'https:' || appSchemes.has(protocol)) return undefined
  return `must start with http://, https:// or the scheme of a known app, not ${protocol}`
}

/** The reason why an http or https URL is not allowed, or undefined. */
export function webUrlProblem(url: string): string | undefined {
  const problem = urlProblem(url)
  if (problem) return problem
  return /^https?:/i.test(url) ? undefined : 'must start with http:// or https://'
}

/** The magic bytes of each image type, in latin1. */
const imageStarts: Record<string, string> = {
  png: '\x89PNG\r\n\x1a\n',
  jpeg: '\xff\xd8\xff',
  jpg: '\xff\xd8\xff',
  gif: 'GIF8',
  webp: 'RIFF',
}

/** The reason why an image URL is not allowed, or undefined. It must be an http, https or image data URL. */
export function imageProblem(url: string): string | undefined {
  if (!/^data:/i.test(url)) return webUrlProblem(url)
  const [, type, data = ''] = /^data:image\/(png|jpe?g|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/i.exec(url) ?? []
  const start = imageStarts[type?.toLowerCase() ?? '']
  const bytes = Buffer.from(data.slice(0, 64), 'base64').toString('latin1')
  if (start !== undefined && bytes.startsWith(start)) return undefined
  return 'must be a URL, or a base64 data URL of a PNG, JPEG, GIF or WebP image'
}

export function readUtm(url: string): Record<UtmName, string | null> {
  return readParameters(new URL(url).search.slice(1), utmNames)
}
