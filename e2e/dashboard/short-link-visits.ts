import { inject } from 'vitest'
import { type BuiltWorkspace, browser } from '../../server/test/build.ts'
import { visit } from '../../server/test/visit.ts'

let visitors = 0

/** Opens a short link as a new visitor, through the redirect role; returns the time of the response. */
export async function openShortLink(workspace: BuiltWorkspace, key: string, headers: Record<string, string> = {}) {
  visitors += 1
  const userAgent = browser.replace('126.0.0.0', `126.0.${process.pid}.${visitors}`)
  const answer = await visit(`${inject('server').redirect}/${key}`, {
    ...{ host: workspace.domain, 'user-agent': userAgent, accept: 'text/html', 'accept-language': 'en' },
    ...headers,
  })
  if (answer.status !== 302) throw new Error(`The short link responded with ${answer.status}.`)
  return performance.now()
}
