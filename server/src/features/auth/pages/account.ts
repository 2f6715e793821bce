import { UAParser } from 'ua-parser-js'
import type { PasskeyRow, SessionListRow } from '../session-store.ts'
import { field, form, nameField, newPasswordField } from './fields.ts'
import { day, type Html, html, raw, say } from './html.ts'
import type { Page } from './layout.ts'

export type AccountView = {
  user: { name: string; email: string; hasSecondFactor: boolean }
  hasPassword: boolean
  canUsePasskeys: boolean
  currentSessionId: string
  sessions: SessionListRow[]
  passkeys: PasskeyRow[]
  problem?: string
  notice?: string
}

export function accountPage(view: AccountView): Page {
  const { user, canUsePasskeys, problem, notice } = view
  return {
    title: 'Your account',
    isWide: true,
    ...(problem && { problem }),
    ...(notice && { notice }),
    usesPasskeys: canUsePasskeys,
    body: html`<p>${say('Signed in as {email}', { email: user.email })} · <a href="/app">${say('Open the dashboard')}</a></p>${form('/sign-out', 'Sign out', [], {}, 'plain')}
<section><h2>${say('Profile')}</h2>${form('/account/name', 'Save', nameField(user.name))}</section>
<section><h2>${say('E-mail address')}</h2>${form('/account/email', 'Change', newEmailField())}</section>
${passwordSection(view)}${secondFactorSection(view)}${canUsePasskeys && passkeySection(view)}${sessionSection(view)}
<section><h2>${say('Delete account')}</h2><p class="dim">${say('Your workspaces stay with their other members.')}</p>
${form('/account/delete', 'Delete my account', field({ name: 'confirmation', label: 'Type your e-mail address' }), {}, 'danger')}</section>`,
  }
}

const newEmailField = () =>
  field({
    name: 'email',
    label: 'New e-mail address',
    type: 'email',
    hint: 'We send a link to it. It changes when you open the link.',
  })

function passwordSection({ hasPassword }: AccountView): Html {
  return html`<section><h2>${say('Password')}</h2><p class="dim">${say('A new password ends your other sessions.')}</p>
${form('/account/password', hasPassword ? 'Change' : 'Set', newPasswordField())}</section>`
}

function secondFactorSection({ user }: AccountView): Html {
  if (!user.hasSecondFactor) {
    return html`<section><h2>${say('Second factor')}</h2><p class="dim">${say('A code of an authenticator app, besides your password.')}</p>
${form('/account/second-factor', 'Set up', [])}</section>`
  }
  return html`<section><h2>${say('Second factor')}</h2><p>${say('It is on.')}</p>
${form('/account/recovery-codes', 'New recovery codes', [], {}, 'plain')}
${form('/account/second-factor/remove', 'Turn off', [], {}, 'danger')}</section>`
}

function passkeySection({ passkeys }: AccountView): Html {
  const rows = passkeys.map(
    ({ id, name, created_at }) =>
      html`<li><div>${name || say('Passkey')} <small>${say('added {date}', { date: day(created_at) })}</small></div>
${form('/account/passkeys/remove', 'Remove', [], { id }, 'danger')}</li>`,
  )
  return html`<section><h2>${say('Passkeys')}</h2><p class="dim">${say('Sign in with your fingerprint, face or device PIN.')}</p>
<ul class="rows">${rows}</ul>
<button type="button" class="plain" data-passkey="register" hidden>${say('Add a passkey')}</button>
<p class="problem" data-passkey-problem hidden></p><noscript><p class="dim">${say('Passkeys need JavaScript.')}</p></noscript></section>`
}

function sessionSection({ sessions, currentSessionId }: AccountView): Html {
  const rows = sessions.map(({ id, user_agent, ip_address, created_at }) => {
    const since = say('since {date}', { date: day(created_at) })
    const end =
      id === currentSessionId
        ? html`<small>${say('This session')}</small>`
        : form('/account/sessions/end', 'End', [], { id }, 'plain')
    return html`<li><div>${describeDevice(user_agent ?? '')} <small>${ip_address && `${ip_address}, `}${since}</small></div> ${end}</li>`
  })
  return html`<section><h2>${say('Sessions')}</h2><ul class="rows">${rows}</ul>
${sessions.length > 1 && form('/account/sessions/end', 'End all others', [], {}, 'plain')}</section>`
}

function describeDevice(userAgent: string): Html | string {
  const { browser, os } = UAParser(userAgent)
  if (browser.name && os.name) return say('{browser} on {system}', { browser: browser.name, system: os.name })
  return browser.name || os.name || say('Unknown device')
}

export function confirmEmailPage({ account, email, token }: { account: string; email: string; token: string }): Page {
  return {
    title: 'Confirm your new address',
    body: html`<p>${say('You sign in to the account of {account} with {email} from now on.', { account, email })}</p>${form('/account/email/confirm', 'Confirm', [], { token })}`,
  }
}

export function totpPage(view: { svg: string; uri: string; codes: string[]; problem?: string }): Page {
  const hidden = { uri: view.uri, codes: view.codes.join(' ') }
  const code = field({ name: 'code', label: 'Code', autocomplete: 'one-time-code' })
  return {
    title: 'Set up the second factor',
    ...(view.problem && { problem: view.problem }),
    body: html`<p>${say('1. Scan this with an authenticator app, or type the key:')}
<code>${new URL(view.uri).searchParams.get('secret')}</code></p>
${raw(view.svg)}<p>${say("2. Store these recovery codes. Each works once, when you don't have your device.")}</p>${codeList(view.codes)}
<p>${say('3. Enter the code that the app shows.')}</p>${form('/account/second-factor/verify', 'Turn on', code, hidden)}`,
  }
}

export function recoveryCodesPage(codes: string[]): Page {
  return {
    title: 'Recovery codes',
    body: html`<p>${say('Store these codes. The former ones no longer work.')}</p>${codeList(codes)}<p><a href="/account">${say('Done')}</a></p>`,
  }
}

const codeList = (codes: string[]) => html`<ul>${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>`
