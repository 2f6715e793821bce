import type { InviteOffer } from '../sign-in.ts'
import { form, nameField, newPasswordField } from './fields.ts'
import { html, say } from './html.ts'
import type { Page } from './layout.ts'

type Offered = { offer: InviteOffer; token: string }

const title = (offer: InviteOffer) => say('Join {workspace}', { workspace: offer.workspaceName })
const intro = ({ workspaceName, role, email }: InviteOffer) =>
  html`<p>${say('{email} is invited to the workspace {workspace} as {role}.', { email, workspace: workspaceName, role })}</p>`

export function acceptInvitePage({ offer, token }: Offered): Page {
  return { title: title(offer), body: html`${intro(offer)}${form('/invite', 'Join', [], { token })}` }
}

export function joinPage({ offer, token, name }: Offered & { name?: string }): Page {
  return {
    title: title(offer),
    body: html`${intro(offer)}<p class="dim">${say('Create your account to join.')}</p>
${form('/invite/new', 'Create account and join', [nameField(name), newPasswordField()], { token })}`,
  }
}

export function signInToJoinPage({ offer, token }: Offered): Page {
  const next = encodeURIComponent(`/invite?token=${encodeURIComponent(token)}`)
  return {
    title: title(offer),
    body: html`${intro(offer)}<p><a href="/sign-in?next=${next}">${say('Sign in to join')}</a></p>`,
  }
}

export function foreignInvitePage(offer: InviteOffer, own: string): Page {
  return {
    title: title(offer),
    problem: `This invite is for another e-mail address. You are signed in as ${own}.`,
    body: html`<p>${say('Sign out and open the link again, or ask for an invite to your address.')}</p>
${form('/sign-out', 'Sign out', [], {}, 'plain')}`,
  }
}
