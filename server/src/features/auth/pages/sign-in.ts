import { currentPasswordField, emailField, field, form, nameField, newPasswordField } from './fields.ts'
import { html, say, sentence } from './html.ts'
import type { Page } from './layout.ts'

type Message = { problem?: string; notice?: string }
const withNext = (path: string, next: string) => `${path}?next=${encodeURIComponent(next)}`

const passkeyButton = (next: string) =>
  html`<p><button type="button" class="plain" data-passkey="sign-in" data-next="${next}" hidden>${say('Use a passkey')}</button></p>
<p class="problem" data-passkey-problem hidden></p>`

export function signInPage(
  given: Message & { next: string; email?: string; maySignUp: boolean; hasPasskeys: boolean },
): Page {
  const { next, email, maySignUp, hasPasskeys } = given
  const password = field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })
  return {
    ...given,
    title: 'Sign in',
    usesPasskeys: hasPasskeys,
    body: html`${form('/sign-in', 'Sign in', [emailField(email), password], { next })}
${hasPasskeys && passkeyButton(next)}
<p><a href="${withNext('/sign-in/link', next)}">${say('Send me a link instead')}</a></p>
<p><a href="/reset-password">${say('Forgot your password?')}</a></p>
${maySignUp && html`<p><a href="${withNext('/sign-up', next)}">${say('Create an account')}</a></p>`}`,
  }
}

export function requestLinkPage(given: Message & { next: string; email?: string }): Page {
  return {
    ...given,
    title: 'Sign in with a link',
    body: html`<p class="dim">${say('We send a link to your e-mail address. It works once, for 15 minutes.')}</p>
${form('/sign-in/link', 'Send the link', emailField(given.email), { next: given.next })}
<p><a href="${withNext('/sign-in', given.next)}">${say('Sign in with a password')}</a></p>`,
  }
}

/** A button, because mail scanners open every link and would use it up. */
export function useLinkPage({ token, email, next }: { token: string; email: string; next: string }): Page {
  return {
    title: 'Sign in',
    body: html`<p>${say('This link signs you in as {email}.', { email })}</p>
${form('/sign-in/use-link', 'Sign in', [], { token, next })}`,
  }
}

export function secondFactorPage(given: Message & { next: string }): Page {
  const code = field({
    name: 'code',
    label: 'Code',
    autocomplete: 'one-time-code',
    hint: 'The six digits that your authenticator app shows, or one of your recovery codes.',
  })
  return {
    ...given,
    title: 'Second factor',
    body: html`${form('/two-factor', 'Continue', code, { next: given.next })}
<p><a href="${withNext('/sign-in', given.next)}">${say('Sign in again')}</a></p>`,
  }
}

export function confirmPage(
  given: Message & { next: string; email: string; hasPassword: boolean; hasPasskeys: boolean },
): Page {
  const { next, email, hasPassword, hasPasskeys } = given
  return {
    ...given,
    title: 'Confirm that it is you',
    usesPasskeys: hasPasskeys,
    body: html`<p class="dim">${say('This change is sensitive. Confirm that you are {email}.', { email })}</p>
${hasPassword && form('/confirm', 'Confirm', currentPasswordField(), { next })}
${hasPasskeys && passkeyButton(next)}
${form('/sign-in/link', 'Send me a link', [], { next, email }, 'plain')}`,
  }
}

export function requestResetPage(given: Message & { email?: string }): Page {
  return {
    ...given,
    title: 'Reset your password',
    body: html`<p class="dim">${say('We send a link to your e-mail address. It works once, for an hour.')}</p>
${form('/reset-password', 'Send the link', emailField(given.email))}<p><a href="/sign-in">${say('Sign in with a password')}</a></p>`,
  }
}

export function newPasswordPage(given: Message & { token: string }): Page {
  return {
    ...given,
    title: 'Choose a new password',
    body: form('/reset-password/new', 'Save', newPasswordField(), { token: given.token }),
  }
}

export function signUpPage(given: Message & { next: string; email?: string }): Page {
  return {
    ...given,
    title: 'Create an account',
    body: html`<p class="dim">${say('We send a link to your e-mail address. It works once, for a day.')}</p>
${form('/sign-up', 'Send the link', emailField(given.email), { next: given.next })}
<p><a href="${withNext('/sign-in', given.next)}">${say('I have an account')}</a></p>`,
  }
}

export function newAccountPage(given: Message & { token: string; email: string; next: string; name?: string }): Page {
  const { token, email, next, name } = given
  return {
    ...given,
    title: 'Create your account',
    body: html`<p>${say('E-mail address: {email}', { email })}</p>
${form('/sign-up/new', 'Create account', [nameField(name), newPasswordField()], { token, next })}`,
  }
}

export function setupPage(given: Message & { token: string; email?: string; name?: string; workspace?: string }): Page {
  const { token, email, name, workspace } = given
  const workspaceField = field({ name: 'workspace', label: 'Name of the first workspace', value: workspace })
  return {
    ...given,
    title: 'Set up Tributary',
    body: html`<p class="dim">${say("You become the owner of this installation's first workspace.")}</p>
${form('/setup', 'Set up', [emailField(email), nameField(name), newPasswordField(), workspaceField], { token })}`,
  }
}

export function messagePage(
  title: string,
  text: string,
  link: { href: string; label: string } = { href: '/sign-in', label: 'Sign in' },
): Page {
  return {
    title,
    body: html`${text && html`<p>${sentence(text)}</p>`}<p><a href="${link.href}">${say(link.label)}</a></p>`,
  }
}
