/** Markup that is safe to send; everything else is escaped. */
export type Html = { readonly markup: string }

/** Builds markup from a template; values are escaped unless they are markup themselves. */
export function html(parts: TemplateStringsArray, ...values: unknown[]): Html {
  return { markup: String.raw({ raw: parts }, ...values.map(render)) }
}

export function raw(markup: string): Html {
  return { markup }
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function render(value: unknown): string {
  if (Array.isArray(value)) return value.map(render).join('')
  if (value === undefined || value === null || value === false) return ''
  if (typeof value === 'object' && 'markup' in value) return String(value.markup)
  return escapeHtml(String(value))
}
