import { isIP } from 'node:net'
import { requestLink, resetPassword } from './account.ts'
import { showBehindLink } from './link-visits.ts'
import {
  confirmPage,
  messagePage,
  newAccountPage,
  newPasswordPage,
  requestLinkPage,
  requestResetPage,
  secondFactorPage,
  setupPage,
  signInPage,
  signUpPage,
  useLinkPage,
} from './pages/sign-in.ts'
import { reauthenticate, type SignedIn, signInWithLink, signInWithPassword, verifySecondFactor } from './sign-in.ts'
import { completeSignUp, offersSignUp, requestSignUp, requireSetupLink, setUp } from './sign-up.ts'
import { selectCredential, selectUser } from './store.ts'
import { type Answer, type Handler, orMessage, orShow, type SignedInVisit, signedIn, type Visit } from './visit.ts'

const sent = 'If that address may sign in here, a link is on its way. Check your mailbox.'

/** The pages for people who are not signed in, by method and path. */
export const signInVisits: Record<string, Handler> = {
  'GET /sign-in': (visit) => ({ page: signInForm(visit) }),
  'POST /sign-in': (visit) =>
    orShow(
      async () =>
        afterSignIn(visit, await signInWithPassword(visit.auth, visit.browser, readForm(visit, 'email', 'password'))),
      () => signInForm(visit),
    ),
  'GET /sign-in/link': ({ next }) => ({ page: requestLinkPage({ next }) }),
  'POST /sign-in/link': (visit) =>
    orShow(
      () => {
        const { auth, browser, next } = visit
        requestLink(auth, browser, { kind: 'sign-in', email: read(visit, 'email'), next })
        return { page: requestLinkPage({ next: visit.next, notice: sent }) }
      },
      () => requestLinkPage({ next: visit.next, email: read(visit, 'email') }),
    ),
  'GET /sign-in/use-link': async (visit) => {
    const answer = await showBehindLink(visit, 'sign-in', async ({ token, userId }) => {
      const email = (await selectUser(visit.auth.db, userId))?.email ?? ''
      return useLinkPage({ token, email, next: visit.next })
    })
    // A link that was used in this browser, such as a bookmarked one, leads on.
    return answer.status && visit.browser.session ? { location: visit.next } : answer
  },
  'POST /sign-in/use-link': (visit) =>
    orMessage('Sign in', async () =>
      afterSignIn(visit, await signInWithLink(visit.auth, visit.browser, read(visit, 'token'))),
    ),
  'GET /two-factor': ({ next }) => ({ page: secondFactorPage({ next }) }),
  'POST /two-factor': (visit) =>
    orShow(
      async () => afterSignIn(visit, await verifySecondFactor(visit.auth, visit.browser, read(visit, 'code'))),
      () => secondFactorPage({ next: visit.next }),
    ),
  'GET /reset-password': () => ({ page: requestResetPage({}) }),
  'POST /reset-password': (visit) =>
    orShow(
      () => {
        requestLink(visit.auth, visit.browser, { kind: 'reset', email: read(visit, 'email') })
        return { page: requestResetPage({ notice: sent }) }
      },
      () => requestResetPage({ email: read(visit, 'email') }),
    ),
  'GET /reset-password/new': newPasswordForm,
  'POST /reset-password/new': async (visit) => {
    const form = await newPasswordForm(visit)
    if (form.status) return form
    return orShow(
      async () => {
        const remaining = await resetPassword(visit.auth, visit.browser, readForm(visit, 'token', 'password'))
        const text = `Your other sessions have ended. Sign in with the new password. ${remaining}`
        return { page: messagePage('Password saved', text.trim()) }
      },
      () => form.page,
    )
  },
  'GET /sign-up': ({ auth, next }) =>
    offersSignUp(auth.config)
      ? { page: signUpPage({ next }) }
      : {
          page: messagePage('Create an account', 'New people join by an invite here. Ask an owner of your workspace.'),
          status: 403,
        },
  'POST /sign-up': (visit) =>
    orShow(
      () => {
        requestSignUp(visit.auth, read(visit, 'email'), visit.next)
        return { page: signUpPage({ next: visit.next, notice: sent }) }
      },
      () => signUpPage({ next: visit.next, email: read(visit, 'email') }),
    ),
  'GET /sign-up/new': newAccountForm,
  'POST /sign-up/new': async (visit) => {
    const form = await newAccountForm(visit)
    if (form.status) return form
    const input = readForm(visit, 'token', 'name', 'password')
    return orShow(
      async () => afterSignIn(visit, await completeSignUp(visit.auth, visit.browser, input)),
      () => form.page,
    )
  },
  'GET /setup': ({ auth, query }) =>
    orMessage('Set up Tributary', async () => {
      const token = query.get('token') ?? ''
      await requireSetupLink(auth, token)
      return { page: setupPage({ token, workspace: auth.config.INIT_WORKSPACE_NAME }) }
    }),
  'POST /setup': (visit) => {
    const input = readForm(visit, 'token', 'email', 'name', 'password', 'workspace')
    return orShow(
      async () => afterSignIn(visit, await setUp(visit.auth, visit.browser, input)),
      () => setupPage({ ...input }),
    )
  },
  'GET /confirm': signedIn(async (visit) => ({ page: await confirmForm(visit) })),
  'POST /confirm': signedIn(async (visit) => {
    const page = await confirmForm(visit)
    return orShow(
      async () => {
        await reauthenticate(visit.auth, visit.browser, read(visit, 'currentPassword'))
        return { location: visit.next }
      },
      () => page,
    )
  }),
}

/** Passkeys belong to a domain name; browsers refuse them on a bare address. */
export function canUsePasskeys(apiUrl: string): boolean {
  return isIP(new URL(apiUrl).hostname.replace(/^\[|\]$/g, '')) === 0
}

export function afterSignIn({ next }: Visit, { cookies, needsSecondFactor }: SignedIn): Answer {
  return { cookies, location: needsSecondFactor ? `/two-factor?next=${encodeURIComponent(next)}` : next }
}

function signInForm({ auth: { config }, form, next }: Visit) {
  const email = form.get('email') ?? ''
  return signInPage({ next, email, maySignUp: offersSignUp(config), hasPasskeys: canUsePasskeys(config.API_URL) })
}

async function confirmForm({ auth, browser: { session }, next }: SignedInVisit) {
  const hasPassword = Boolean((await selectCredential(auth.db, session.email))?.password)
  return confirmPage({ next, email: session.email, hasPassword, hasPasskeys: canUsePasskeys(auth.config.API_URL) })
}

function newPasswordForm(visit: Visit) {
  return showBehindLink(visit, 'reset', ({ token }) => newPasswordPage({ token }))
}

function newAccountForm(visit: Visit) {
  const { form, next } = visit
  const name = form.get('name') ?? ''
  return showBehindLink(visit, 'sign-up', ({ token, email }) => newAccountPage({ token, email, next, name }))
}

function read({ form }: Visit, name: string): string {
  return form.get(name) ?? ''
}

function readForm<Name extends string>(visit: Visit, ...names: Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, read(visit, name)])) as Record<Name, string>
}
