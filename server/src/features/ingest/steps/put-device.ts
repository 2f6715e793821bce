import { UAParser } from 'ua-parser-js'
import { openByteCache } from '../../../platform/byte-cache.ts'
import { type ClickDraft, type Outcome, unknown } from './step.ts'

/** Puts device, browser and operating system as the user agent tells them. */
export function putDevice(draft: ClickDraft): Outcome {
  const { device, browser, os } = readUserAgent(draft.raw.userAgent)
  return { keep: { raw: draft.raw, event: { ...draft.event, device, browser, os } } }
}

type Device = { device: string; browser: string; os: string }

// What is longer is parsed anew each time, so that no visitor can fill the memory.
const longestCached = 500
const longestName = 100
const known = openByteCache<Device>({ maxBytes: 8_000_000, most: 20_000 })

function readUserAgent(userAgent: string): Device {
  if (userAgent.length > longestCached) return parseUserAgent(userAgent)
  let device = known.get(userAgent)
  if (!device) {
    device = parseUserAgent(userAgent)
    known.set(userAgent, device)
  }
  return device
}

function parseUserAgent(userAgent: string): Device {
  if (userAgent === '') return { device: unknown, browser: unknown, os: unknown }
  const parser = new UAParser(userAgent)
  const type = parser.getDevice().type
  const browser = parser.getBrowser().name?.slice(0, longestName) ?? unknown
  const os = parser.getOS().name?.slice(0, longestName) ?? unknown
  // The parser names every kind of device but the common computer.
  const device = type ? capitalised(type) : os === unknown ? unknown : 'Desktop'
  return { device, browser, os }
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
