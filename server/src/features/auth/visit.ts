import { AppError } from '../../platform/errors.ts'
import type { Page } from './pages/layout.ts'
import { messagePage } from './pages/sign-in.ts'
import type { Session } from './service.ts'
import type { Auth, Browser } from './sign-in.ts'

/** A request to one of the pages, without HTTP. */
export type Visit = { auth: Auth; browser: Browser; query: URLSearchParams; form: URLSearchParams; next: string }
export type SignedInVisit = Visit & { browser: Browser & { session: Session } }
export type Answer = { cookies?: string[] } & ({ page: Page; status?: number } | { location: string })
export type Handler = (visit: Visit) => Answer | Promise<Answer>

/** Returns the path to continue at; anything but a path of this server is replaced, so that no link leads elsewhere. */
export function safeNext(given: string | null | undefined, apiUrl: string, fallback = '/app'): string {
  if (!given?.startsWith('/') || /^\/[/\\]|[\p{Cc}\\]/u.test(given) || given.length > 2_000) return fallback
  const target = URL.parse(given, apiUrl)
  if (target?.origin !== new URL(apiUrl).origin || target.pathname.startsWith('//')) return fallback
  return target.pathname + target.search + target.hash
}

/** Runs `work`; an error that the visitor can correct shows the page again, with its message. */
export async function orShow(work: () => Answer | Promise<Answer>, page: (problem: string) => Page): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { page: { ...page(error.message), problem: error.message }, status: error.status }
  }
}

/** Shows a message instead of an error page for a link that does not work. */
export function orMessage(title: string, work: () => Answer | Promise<Answer>): Promise<Answer> {
  return orShow(work, () => ({ ...messagePage(title, ''), title }))
}

/** Sends others to the sign-in page, and from there to `next`. */
export function signedIn(
  handler: (visit: SignedInVisit) => Answer | Promise<Answer>,
  next: (visit: Visit) => string = () => '/account',
): Handler {
  return (visit) => {
    const { session } = visit.browser
    if (!session) return { location: `/sign-in?next=${encodeURIComponent(next(visit))}` }
    return handler({ ...visit, browser: { ...visit.browser, session } })
  }
}
