import { isIP } from 'node:net'
import { requestLink, resetPassword } from './account.ts'
import { peekLink } from './one-time.ts'
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
import { selectCredential } from './store.ts'
import { type Answer, type Handler, orMessage, orShow, type SignedInVisit, signedIn, type Visit } from './visit.ts'

const sent = 'If that address may sign in here, a link is on its way. Look into your mailbox.'

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
        requestLink(visit.auth, 'sign-in', read(visit, 'email'), visit.next)
        return { page: requestLinkPage({ next: visit.next, notice: sent }) }
      },
      () => requestLinkPage({ next: visit.next }),
    ),
  'GET /sign-in/use-link': ({ query, next }) => ({ page: useLinkPage(query.get('token') ?? '', next) }),
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
        requestLink(visit.auth, 'reset', read(visit, 'email'))
        return { page: requestResetPage({ notice: sent }) }
      },
      () => requestResetPage({}),
    ),
  'GET /reset-password/new': ({ query }) => ({ page: newPasswordPage({ token: query.get('token') ?? '' }) }),
  'POST /reset-password/new': (visit) =>
    orShow(
      async () => {
        await resetPassword(visit.auth, visit.browser, readForm(visit, 'token', 'password'))
        return { page: messagePage('Password saved', 'Your other sessions have ended. Sign in with the new password.') }
      },
      () => newPasswordPage({ token: read(visit, 'token') }),
    ),
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
      () => signUpPage({ next: visit.next }),
    ),
  'GET /sign-up/new': (visit) => newAccountForm(visit, visit.query.get('token') ?? ''),
  'POST /sign-up/new': async (visit) => {
    const form = await newAccountForm(visit, read(visit, 'token'))
    if (!('page' in form)) return form
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

async function newAccountForm({ auth, form, next }: Visit, token: string): Promise<Answer> {
  const link = await peekLink(auth, 'sign-up', token)
  if (link) return { page: newAccountPage({ token, email: link.email, next, name: form.get('name') ?? '' }) }
  const message = 'This link was used already or has expired. Ask for a new one.'
  return {
    page: messagePage('Create an account', message, { href: '/sign-up', label: 'Create an account' }),
    status: 404,
  }
}

function read({ form }: Visit, name: string): string {
  return form.get(name) ?? ''
}

function readForm<Name extends string>(visit: Visit, ...names: Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, read(visit, name)])) as Record<Name, string>
}
