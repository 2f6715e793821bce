import { i18n, type Messages } from '@lingui/core'
import { writeCookie } from './cookies.ts'

export const languages = { en: 'English', de: 'Deutsch' } as const
type Language = keyof typeof languages

const catalogs = import.meta.glob<{ messages: Messages }>('../locales/*/*.po')
const loaded = new Set<string>(['app'])

/** Loads a catalog of the current language: `app`, or the name of a feature. */
export async function loadMessages(catalog: string): Promise<void> {
  loaded.add(catalog)
  await load(catalog, i18n.locale)
}

/** Shows the language that the server chose for this page, when the page starts. */
export function startLanguage(): Promise<void> {
  return activate(document.documentElement.lang === 'de' ? 'de' : 'en')
}

/** Shows a language, now and from the first paint of later pages; `browser` is the first that the browser prefers. */
export async function applyLanguage(chosen: Language | 'browser'): Promise<void> {
  writeCookie('tributary_language', chosen)
  const language = chosen === 'browser' ? preferredLanguage(navigator.languages) : chosen
  if (language !== i18n.locale) await activate(language)
}

function preferredLanguage(accepted: readonly string[]): Language {
  const known = accepted.map((tag) => tag.split('-')[0] ?? '').find((tag) => tag in languages)
  return (known ?? 'en') as Language
}

async function activate(language: Language): Promise<void> {
  await Promise.all([...loaded].map((catalog) => load(catalog, language)))
  // Dates and numbers follow the browser's region: a German or British reader sees 24 hours.
  i18n.activate(language, [...navigator.languages.filter((tag) => tag.startsWith(`${language}-`)), language])
  document.documentElement.lang = language
}

async function load(catalog: string, language: string): Promise<void> {
  const messages = await catalogs[`../locales/${catalog}/${language}.po`]?.()
  if (messages) i18n.load(language, messages.messages)
}
