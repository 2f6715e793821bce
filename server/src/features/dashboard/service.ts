import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingPage } from './pages.ts'
import { pageHeaders } from './policy.ts'

/** The dashboard: the output folder of `npm run dashboard`. */
export const builtDashboard = fileURLToPath(new URL('../../../../dashboard/dist', import.meta.url))

const languages = ['en', 'de'] as const
const themes = ['light', 'dark']

/** What a visitor chose earlier in this browser, by cookies, and what the browser prefers. */
export type Preferences = { theme?: string | undefined; language?: string | undefined; accepted?: string | undefined }

export type BuiltPage = { html: string; status: 200 | 503; headers: Record<string, string> }

/** A page of the dashboard with its headers; it says how to build the dashboard when that was not done. */
export async function openPage(
  file: 'index.html' | 'share.html',
  preferences: Preferences,
  folder = builtDashboard,
): Promise<BuiltPage> {
  const nonce = randomBytes(16).toString('base64url')
  const headers = pageHeaders(nonce)
  const page = await readPage(folder, file)
  if (page === undefined) return { html: missingPage(nonce), status: 503, headers }
  return { html: renderPage(page, nonce, preferences), status: 200, headers }
}

/** Reads a page, each time, so that a new build needs no restart; undefined when it was not built. */
function readPage(folder: string, file: string): Promise<string | undefined> {
  return readFile(join(folder, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
}

/** Writes theme, language and nonce into the page, so that its first paint is right. */
function renderPage(page: string, nonce: string, { theme, language, accepted }: Preferences): string {
  const chosenTheme = themes.find((name) => name === theme) ?? 'system'
  const chosenLanguage = chooseLanguage(language, accepted)
  return page
    .replace('<html lang="en" data-theme="system">', `<html lang="${chosenLanguage}" data-theme="${chosenTheme}">`)
    .replaceAll('__NONCE__', nonce)
}

/** The language that a visitor chose earlier, else the first of ours that the browser accepts. */
export function chooseLanguage(chosen: string | undefined, accepted = ''): (typeof languages)[number] {
  return languages.find((name) => name === chosen) ?? preferredLanguage(accepted)
}

/** The first of our languages in `Accept-Language`, by its weights; English when it has none of them. */
function preferredLanguage(accepted: string): (typeof languages)[number] {
  const ranges = accepted
    .slice(0, 500)
    .split(',')
    .map((range) => {
      const [tag = '', weight] = range.trim().split(/\s*;\s*q=/)
      return {
        language: languages.find((name) => name === tag.split('-')[0]?.toLowerCase()),
        weight: weight === undefined ? 1 : Number(weight) || 0,
      }
    })
    .filter(({ language, weight }) => weight > 0 && language !== undefined)
    .sort((one, other) => other.weight - one.weight)
  return ranges[0]?.language ?? 'en'
}
