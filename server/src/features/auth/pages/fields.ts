import { type Html, html, say } from './html.ts'

type Field = { name: string; label: string; type?: string; value?: string; autocomplete?: string; hint?: string }

export function field({ name, label, type = 'text', value = '', autocomplete = 'off', hint }: Field): Html {
  const maxLength = type === 'password' ? 200 : 254
  return html`<label for="${name}">${say(label)}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}" maxlength="${maxLength}" required>
${hint && html`<small>${say(hint)}</small>`}`
}

export const emailField = (value = '') =>
  field({ name: 'email', label: 'E-mail address', type: 'email', value, autocomplete: 'username webauthn' })

export const newPasswordField = () =>
  field({
    name: 'password',
    label: 'New password',
    type: 'password',
    autocomplete: 'new-password',
    hint: 'At least 10 characters. Several words are easy to remember and hard to guess.',
  })

export const currentPasswordField = () =>
  field({ name: 'currentPassword', label: 'Current password', type: 'password', autocomplete: 'current-password' })

export const nameField = (value = '') => field({ name: 'name', label: 'Your name', value, autocomplete: 'name' })

/** A form that posts its fields to `action`; hidden values come first. */
export function form(
  action: string,
  button: string,
  fields: unknown,
  hidden: Record<string, string> = {},
  look = '',
): Html {
  const inputs = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<form method="post" action="${action}">${inputs}${fields}<button class="${look}">${say(button)}</button></form>`
}
