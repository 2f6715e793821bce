import { type Settings, startTracker, type Tracker } from './tracker.ts'

/** A call that a page queued before this script loaded: name, argument and callback. */
type Call = [name: Exclude<keyof Tracker, 'clickId'>, input: never, then?: (answer: unknown) => void]

const script = document.currentScript as HTMLScriptElement
const { dataset: data } = script
const page = window as unknown as { tributary?: Call[] }
const tracker = startTracker({
  api: data.api || new URL(script.src).origin,
  parameters: splitList(data.param),
  cookie: data.cookie,
  cookieDomain: data.cookieDomain,
  cookieDays: Number(data.cookieDays) || undefined,
  attribution: data.attribution as Settings['attribution'],
  outbound: splitList(data.outbound),
  key: data.key,
  honourDoNotTrack: 'honourDnt' in data,
})
const earlier = page.tributary ?? []
page.tributary = { ...tracker, push } as unknown as Call[]
for (const call of earlier) push(call)

function push([name, input, then]: Call): void {
  tracker[name](input).then(then, console.error)
}

function splitList(text: string | undefined): string[] | undefined {
  return text ? text.split(/[\s,]+/) : undefined
}
