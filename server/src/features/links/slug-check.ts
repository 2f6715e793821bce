import type { SlugCheck, SlugQuery } from '@tributary/contract/slug-check'
import type { Ctx } from '../../platform/context.ts'
import { randomText } from '../../platform/ids.ts'
import { domainForLink, hasDomain } from '../domains/service.ts'
import { keyProblem, lookupKey, normalKey, sharedKeyProblem } from './key.ts'
import { selectTakenKeys } from './store.ts'

const longestBase = 180

/** Says whether a new link can have a key, and suggests one that is free. Both come from one read. */
export async function checkSlug(ctx: Ctx, query: SlugQuery): Promise<SlugCheck> {
  const domain = await domainForLink(ctx, query.domain)
  const isShared = domain === ctx.config.SHORT_DOMAIN && !(await hasDomain(ctx, domain))
  const findProblem = (key: string) => keyProblem(key) ?? (isShared ? sharedKeyProblem(key) : undefined)
  const key = normalKey(query.key)
  const problem = findProblem(key)
  const candidates = suggestKeys(key).filter((candidate) => candidate !== key && !findProblem(candidate))
  const taken = await selectTakenKeys(ctx.db, domain, [key, ...candidates].map(lookupKey))
  const suggestion = candidates.find((candidate) => !taken.has(lookupKey(candidate))) ?? null
  if (problem !== undefined) {
    const kind = problem === 'is reserved' ? 'reserved' : 'invalid'
    return { domain, key, isAvailable: false, problem: kind, message: `The slug ${problem}.`, suggestion }
  }
  if (!taken.has(lookupKey(key)))
    return { domain, key, isAvailable: true, problem: null, message: null, suggestion: null }
  const message = `${domain}/${key} is already taken.`
  return { domain, key, isAvailable: false, problem: 'taken', message, suggestion }
}

/** Keys like this one, the most similar first: without characters that are not allowed, then with a number or random end. */
function suggestKeys(key: string): string[] {
  const allowed = key
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: replaces control characters
    .replaceAll(/[\s?#\\%\u0000-\u001f\u007f-\u009f\ufffd]+/g, '-')
    .replaceAll(/(^|\/)\.{0,2}(?=\/|$)/g, '')
    .replace(/^[_/-]+/, '')
    .slice(0, longestBase)
    .replace(/[/-]+$/, '')
  const base = allowed.toWellFormed().replaceAll('\ufffd', '')
  if (base === '') return [randomText(7)]
  return [base, ...[2, 3, 4, 5, 6].map((number) => `${base}-${number}`), `${base}-${randomText(4)}`]
}
