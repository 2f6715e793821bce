import { UAParser } from 'ua-parser-js'

/** The operating systems that a link can have a separate destination for; empty for all others. */
export function detectDevice(userAgent: string): 'ios' | 'android' | '' {
  // Most visitors need no parser, which takes some twenty times as long.
  if (!/iP(?:hone|ad|od)|Android|iOS/i.test(userAgent)) return ''
  const system = new UAParser(userAgent).getOS().name
  if (system === 'iOS') return 'ios'
  return system === 'Android' ? 'android' : ''
}
