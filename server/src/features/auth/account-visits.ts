import {
  changePassword,
  confirmEmailChange,
  deleteAccount,
  endSessions,
  finishTotp,
  foreignChange,
  isFresh,
  removePasskey,
  removeTotp,
  rename,
  renewRecoveryCodes,
  requestEmailChange,
  showTotp,
  startTotp,
} from './account.ts'
import { sessionCookieName } from './cookies.ts'
import { showBehindLink } from './link-visits.ts'
import { accountPage, confirmEmailPage, recoveryCodesPage, totpPage } from './pages/account.ts'
import { messagePage } from './pages/sign-in.ts'
import { forgetSession, usersByIds } from './service.ts'
import { selectPasskeys, selectSessions } from './session-store.ts'
import { canUsePasskeys } from './sign-in-visits.ts'
import { requireName } from './sign-up.ts'
import { selectCredential } from './store.ts'
import { type Answer, type Handler, orMessage, orShow, type SignedInVisit, signedIn } from './visit.ts'

const confirmTitle = 'Confirm your new address'

/** The pages of a signed-in user's account, by method and path. */
export const accountVisits: Record<string, Handler> = {
  'GET /account': signedIn((visit) => showAccount(visit)),
  'POST /sign-out': signedIn(async (visit) => {
    const { auth, browser } = visit
    await endSessions(auth, browser, browser.session.id)
    return { location: '/sign-in', cookies: [endCookie(visit)] }
  }),
  'POST /account/name': change(async ({ auth, browser, form }) => {
    await rename(auth, browser, requireName(form.get('name') ?? ''))
    return 'Your name is saved.'
  }),
  'POST /account/email': changeFresh(async ({ auth, browser, form }) => {
    requestEmailChange(auth, browser, form.get('email') ?? '')
    return 'If that address is free, a link is on its way to it.'
  }),
  'GET /account/email/confirm': signedIn(
    (visit) =>
      orMessage(confirmTitle, () => {
        const own = visit.browser.session
        return showBehindLink(visit, 'change-email', (link) => {
          if (link.userId !== own.userId) throw foreignChange(own.email)
          return confirmEmailPage({ ...link, account: own.email })
        })
      }),
    ({ query }) => `/account/email/confirm?${query}`,
  ),
  'POST /account/email/confirm': signedIn(({ auth, browser, form }) =>
    orMessage(confirmTitle, async () => {
      await confirmEmailChange(auth, browser, form.get('token') ?? '')
      return { page: messagePage('Address changed', 'Sign in with the new address from now on.') }
    }),
  ),
  'POST /account/password': changeFresh(async ({ auth, browser, form }) => {
    await changePassword(auth, browser, form.get('password') ?? '')
    return 'Your password is saved. Your other sessions have ended.'
  }),
  'POST /account/sessions/end': change(async ({ auth, browser, form }) => {
    const count = await endSessions(auth, browser, form.get('id') || undefined)
    return count === 1 ? 'The session has ended.' : `${count} sessions have ended.`
  }),
  'POST /account/second-factor': fresh(async ({ auth, browser }) => ({
    page: totpPage(await startTotp(auth, browser)),
  })),
  'POST /account/second-factor/verify': fresh(({ auth, browser, form }) => {
    const setup = showTotp(form.get('uri') ?? '', (form.get('codes') ?? '').split(' ').slice(0, 20))
    return orShow(
      async () => ({ cookies: await finishTotp(auth, browser, form.get('code') ?? ''), location: '/account' }),
      () => totpPage(setup),
    )
  }),
  'POST /account/second-factor/remove': fresh(async ({ auth, browser }) => ({
    cookies: await removeTotp(auth, browser),
    location: '/account',
  })),
  'POST /account/recovery-codes': fresh(async ({ auth, browser }) => ({
    page: recoveryCodesPage(await renewRecoveryCodes(auth, browser)),
  })),
  'POST /account/passkeys/remove': changeFresh(async ({ auth, browser, form }) => {
    await removePasskey(auth, browser, form.get('id') ?? '')
    return 'The passkey is removed.'
  }),
  'POST /account/delete': fresh((visit) =>
    tryChange(visit, async () => {
      await deleteAccount(visit.auth, visit.browser, visit.form.get('confirmation') ?? '')
      return { page: messagePage('Account deleted', 'Your account is deleted.'), cookies: [endCookie(visit)] }
    }),
  ),
}

type Work = (visit: SignedInVisit) => Promise<string>

/** Changes something and shows the account with a notice, or with what went wrong. */
function change(work: Work): Handler {
  return signedIn((visit) => tryChange(visit, async () => showAccount(visit, { notice: await work(visit) })))
}

function changeFresh(work: Work): Handler {
  return fresh((visit) => tryChange(visit, async () => showAccount(visit, { notice: await work(visit) })))
}

/** Asks for the password again first, unless the user entered it recently. */
function fresh(handler: (visit: SignedInVisit) => Answer | Promise<Answer>): Handler {
  return signedIn((visit) =>
    isFresh(visit.browser.session, visit.auth.now()) ? handler(visit) : { location: '/confirm?next=%2Faccount' },
  )
}

async function tryChange(visit: SignedInVisit, work: () => Promise<Answer>): Promise<Answer> {
  const page = await showAccount(visit)
  return orShow(work, () => page.page)
}

async function showAccount({ auth, browser: { session } }: SignedInVisit, message: { notice?: string } = {}) {
  const { db, config } = auth
  const [users, credential, sessions, passkeys] = await Promise.all([
    usersByIds(auth, [session.userId]),
    selectCredential(db, session.email),
    selectSessions(db, session.userId),
    selectPasskeys(db, session.userId),
  ])
  const user = users.get(session.userId) ?? { ...session, hasSecondFactor: false }
  const view = { user, sessions, passkeys, currentSessionId: session.id, hasPassword: Boolean(credential?.password) }
  return { page: accountPage({ ...view, ...message, canUsePasskeys: canUsePasskeys(config.API_URL) }) }
}

function endCookie({ auth, browser }: SignedInVisit): string {
  const cookie = browser.headers.get('cookie') ?? undefined
  forgetSession(auth, cookie)
  const name = sessionCookieName(auth.config)
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return `${name}=; Max-Age=0; Path=/; HttpOnly${secure}; SameSite=Lax`
}
