import type { NewDomain } from '@tributary/contract/domains'
import { nestingProblem } from '../../platform/body.ts'

const maxValues = 10_000

type Settings = Pick<
  Partial<NewDomain>,
  'expiredUrl' | 'notFoundUrl' | 'logo' | 'assetLinks' | 'appleAppSiteAssociation'
>

/** Returns the first problem of a domain's settings, or undefined. */
export function settingsProblem(settings: Settings): string | undefined {
  for (const [name, findProblem] of Object.entries(checks) as [
    keyof Settings,
    (text: string) => string | undefined,
  ][]) {
    const value = settings[name]
    const problem = typeof value === 'string' ? findProblem(value) : undefined
    if (problem) return `\`${name}\` in the body ${problem}.`
  }
  return undefined
}

const checks: Record<keyof Settings, (text: string) => string | undefined> = {
  expiredUrl: urlProblem,
  notFoundUrl: urlProblem,
  logo: logoProblem,
  assetLinks: (text) =>
    Array.isArray(parseJson(text)) ? undefined : 'must be the JSON text of an array, at most 32 levels deep',
  appleAppSiteAssociation: (text) =>
    isObject(parseJson(text)) ? undefined : 'must be the JSON text of an object, at most 32 levels deep',
}

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URL such as https://example.com/page'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'must not contain control characters'
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must start with http:// or https://'
  if (username || password) return 'must not contain a user name or password'
  return undefined
}

const imageData = /^data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/

function logoProblem(text: string): string | undefined {
  if (!text.startsWith('data:')) return urlProblem(text)
  return imageData.test(text) ? undefined : 'must be a base64 data URL of a PNG, JPEG, GIF or WebP image'
}

function parseJson(text: string): unknown {
  if (nestingProblem(Buffer.from(text), maxValues)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
