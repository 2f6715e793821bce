import { transaction } from '../../platform/postgres.ts'
import { hashNewPassword } from './new-account.ts'
import { acceptInvitePage, foreignInvitePage, joinPage, signInToJoinPage } from './pages/invite.ts'
import { recordAction } from './record.ts'
import { createUser, findUserByEmail } from './service.ts'
import { type Auth, type Browser, type InviteOffer, prove, type SignedIn } from './sign-in.ts'
import { afterSignIn } from './sign-in-visits.ts'
import { requireName } from './sign-up.ts'
import { type Answer, type Handler, orMessage, orShow, signedIn, type Visit } from './visit.ts'

const title = 'Invite'

/** The pages behind an invite link, by method and path. */
export const inviteVisits: Record<string, Handler> = {
  'GET /invite': (visit) => orMessage(title, () => showInvite(visit, visit.query.get('token') ?? '')),
  'POST /invite': signedIn((visit) =>
    orMessage(title, async () => {
      const { auth, browser, form } = visit
      const { slug } = await auth.hooks.acceptInvite(auth, browser.session.userId, form.get('token') ?? '')
      return { location: `/app/${slug}` }
    }),
  ),
  'POST /invite/new': (visit) =>
    orMessage(title, async () => {
      const { auth, browser, form } = visit
      const token = form.get('token') ?? ''
      const input = { token, name: form.get('name') ?? '', password: form.get('password') ?? '' }
      const offer = await auth.hooks.readInvite(auth, token)
      return orShow(
        async () => afterSignIn(visit, await join(auth, browser, offer, input)),
        () => joinPage({ offer, token, name: input.name }),
      )
    }),
}

async function showInvite({ auth, browser: { session } }: Visit, token: string): Promise<Answer> {
  const offer = await auth.hooks.readInvite(auth, token)
  if (session?.email === offer.email) return { page: acceptInvitePage({ offer, token }) }
  if (session) return { page: foreignInvitePage(offer, session.email), status: 403 }
  const user = await findUserByEmail(auth, offer.email)
  return { page: user ? signInToJoinPage({ offer, token }) : joinPage({ offer, token }) }
}

/** Creates the account and the membership together. The link was sent to the address, so it confirms it. */
async function join(
  auth: Auth,
  browser: Browser,
  { email }: InviteOffer,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<SignedIn> {
  const hash = await hashNewPassword(auth, browser, { email, name, password })
  const user = await transaction(auth, async (auth) => {
    const user = await createUser(auth, { email, name: requireName(name), hash, isEmailVerified: true })
    await recordAction(auth, 'account-created', { userId: user.id, network: browser.network })
    await auth.hooks.acceptInvite(auth, user.id, token)
    return user
  })
  return prove(auth, browser, user, 'new account')
}
