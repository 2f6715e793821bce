import { type Language, translate, translateMessage } from './german.ts'

/** Markup that is safe to send, written in the language of the reader; everything else is escaped. */
export type Html = { readonly write: (language: Language) => string }

/** Builds markup from a template; values are escaped unless they are markup themselves. */
export function html(parts: TemplateStringsArray, ...values: unknown[]): Html {
  return { write: (language) => String.raw({ raw: parts }, ...values.map((value) => render(value, language))) }
}

export function raw(markup: string): Html {
  return { write: () => markup }
}

/** A text of ours, in the language of the reader; `{name}` stands for a value. */
export function say(text: string | Html, values: Record<string, unknown> = {}): Html {
  if (typeof text === 'object') return text
  return {
    write: (language) =>
      translate(text, language)
        .split(/\{(\w+)\}/)
        .map((part, index) => render(index % 2 === 0 ? part : values[part], language))
        .join(''),
  }
}

/** A finished sentence, such as an error message; its values can't be told from its words. */
export function sentence(text: string): Html {
  return { write: (language) => escapeHtml(translateMessage(text, language)) }
}

/** A day as the reader writes it. */
export function day(at: Date): Html {
  return { write: (language) => new Intl.DateTimeFormat(locales[language], { dateStyle: 'medium' }).format(at) }
}

const locales = { en: 'en-GB', de: 'de' } as const

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function render(value: unknown, language: Language): string {
  if (Array.isArray(value)) return value.map((one) => render(one, language)).join('')
  if (value === undefined || value === null || value === false) return ''
  if (typeof value === 'object' && 'write' in value) return (value as Html).write(language)
  return escapeHtml(String(value))
}
