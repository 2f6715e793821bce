import { UAParser } from 'ua-parser-js'

/** The visitor's operating system, if links can have a separate destination for it; else empty. */
export function detectDevice(userAgent: string): 'ios' | 'android' | '' {
  // A cheap test first: the user-agent parser takes some twenty times as long, and most visitors don't need it.
  if (!/iP(?:hone|ad|od)|Android|iOS/i.test(userAgent)) return ''
  const system = new UAParser(userAgent).getOS().name
  if (system === 'iOS') return 'ios'
  return system === 'Android' ? 'android' : ''
}
