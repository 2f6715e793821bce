import { UAParser } from 'ua-parser-js'
import { memo } from '../../../platform/memo.ts'
import { type ClickDraft, type Outcome, unknown } from './step.ts'

/** Sets device, browser and operating system from the user agent. */
export function putDevice(draft: ClickDraft): Outcome {
  const { device, browser, os } = readUserAgent(draft.raw.userAgent)
  const { event } = draft
  event.device = device
  event.browser = browser
  event.os = os
  return { keep: draft }
}

type Device = { device: string; browser: string; os: string }

const longestName = 100
const readUserAgent = memo(parseUserAgent, { maxBytes: 8_000_000, most: 20_000, maxKeyLength: 500 })

function parseUserAgent(userAgent: string): Device {
  if (userAgent === '') return { device: unknown, browser: unknown, os: unknown }
  const parser = new UAParser(userAgent)
  const type = parser.getDevice().type
  const browser = parser.getBrowser().name?.slice(0, longestName) ?? unknown
  const os = parser.getOS().name?.slice(0, longestName) ?? unknown
  // The user-agent parser returns no device type for desktop computers.
  const device = type ? capitalised(type) : os === unknown ? unknown : 'Desktop'
  return { device, browser, os }
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
