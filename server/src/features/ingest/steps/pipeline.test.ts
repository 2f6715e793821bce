import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stepContext } from '../../../../test/step-context.ts'
import { parseKeys } from '../../../platform/seal.ts'
import { clickKeys as deriveKeys, mintClickId } from '../../click-ids/service.ts'
import { type RawClick, rawClick } from '../../redirect/messages.ts'
import { dropDuplicate } from './drop-duplicate.ts'
import { markBot } from './mark-bot.ts'
import { begin, deduplicationSteps, enrich, enrichmentSteps, run, validationSteps } from './pipeline.ts'
import { putDevice } from './put-device.ts'
import { putIp } from './put-ip.ts'
import { putLocation } from './put-location.ts'
import { putReferrer } from './put-referrer.ts'
import { putUtm } from './put-utm.ts'
import { type Step, startDraft } from './step.ts'
import { verify } from './verify.ts'

const clickKeys = deriveKeys({ CLICK_ID_KEYS: parseKeys(`1:${'ab'.repeat(32)}`) })
const context = stepContext({ clickKeys, findIpStorage: () => 'eu-truncated' })
const at = Date.UTC(2026, 0, 15, 12)
const visitor = { ip: '203.0.113.9', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0', at }
const raw: RawClick = {
  ...visitor,
  id: mintClickId(clickKeys, { ...visitor, linkNumber: 7n }),
  workspaceId: 'ws_1',
  linkNumber: '7',
  url: 'https://example.com/?utm_source=mail',
  trigger: 'link',
  referer: 'https://www.example.org/page',
  bot: '',
  country: 'DE',
  region: 'BE',
  city: 'Berlin',
  continent: 'EU',
}

test('validation, deduplication and enrichment steps run in a fixed order', () => {
  expect(validationSteps).toEqual([verify, markBot])
  expect(deduplicationSteps).toEqual([dropDuplicate])
  expect(enrichmentSteps).toEqual([putLocation, putIp, putDevice, putReferrer, putUtm])
})

describe('run', () => {
  const seen: string[] = []
  const noting =
    (name: string, step: Step): Step =>
    (draft, context) => {
      seen.push(name)
      return step(draft, context)
    }
  const keep: Step = (draft) => ({ keep: draft })

  test.each<[string, Step, object]>([
    ['drops', () => ({ drop: 'duplicate' }), { drop: 'duplicate' }],
    ['rejects', () => ({ reject: 'malformed' }), { reject: 'malformed' }],
  ])('ends at the first step that %s', (_name, step, outcome) => {
    seen.length = 0
    const steps = [noting('first', keep), noting('second', step), noting('third', keep)]
    expect(run(begin(raw), steps, context)).toEqual(outcome)
    expect(seen).toEqual(['first', 'second'])
  })

  test("passes each step the previous step's click", () => {
    const add =
      (mark: string): Step =>
      ({ raw, event }) => ({ keep: { raw, event: { ...event, city: event.city + mark } } })
    expect(run(begin(raw), [add('1'), add('2'), add('3')], context)).toMatchObject({
      keep: { event: { city: 'Unknown123' } },
    })
  })

  test('leaves a dropped or rejected click unchanged', () => {
    seen.length = 0
    expect(run({ reject: 'malformed' }, [noting('any', keep)], context)).toEqual({ reject: 'malformed' })
    expect(seen).toEqual([])
  })

  test('returns the click unchanged without steps', () => {
    expect(run(begin(raw), [], context)).toEqual({ keep: startDraft(raw) })
  })
})

describe('validationSteps and dropping repeats', () => {
  const judged = (click: RawClick, isRepeat = false) =>
    run(
      run(begin(click), validationSteps, context),
      deduplicationSteps,
      stepContext({ clickKeys, isRepeat: () => isRepeat }),
    )

  test.each<[string, Partial<RawClick>, boolean, object]>([
    ['a visit', {}, false, { keep: { event: { bot: '' } } }],
    ['a repeated visit', {}, true, { drop: 'duplicate' }],
    ['a crawler', { userAgent: 'Googlebot/2.1' }, false, { keep: { event: { bot: 'user-agent' } } }],
    ['a prefetch', { bot: 'prefetch' }, false, { keep: { event: { bot: 'prefetch' } } }],
    ['a repeated forgery', { linkNumber: '8' }, true, { reject: 'forged_click_id' }],
    ['an invalid time', { at: -1 }, false, { reject: 'malformed' }],
    ['a fraction of a millisecond', { at: at + 0.5 }, false, { reject: 'malformed' }],
  ])('%s', (_name, given, isRepeat, outcome) => {
    expect(judged({ ...raw, ...given }, isRepeat)).toMatchObject(outcome)
  })
})

test('enrich adds location, device, referrer and UTM values to a click', () => {
  expect(enrich(startDraft(raw), context)).toEqual({
    id: raw.id,
    at,
    workspaceId: 'ws_1',
    linkNumber: '7',
    url: raw.url,
    trigger: 'link',
    ip: '203.0.113.0',
    country: 'DE',
    region: 'DE-BE',
    city: 'Berlin',
    continent: 'EU',
    device: 'Desktop',
    browser: 'Firefox',
    os: 'Linux',
    referer: 'example.org',
    refererUrl: 'https://www.example.org/page',
    utmSource: 'mail',
    utmMedium: '',
    utmCampaign: '',
    utmTerm: '',
    utmContent: '',
    bot: '',
  })
})

test('enrich accepts every click that the schema accepts, and leaves no field undefined', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('\ud800', '%', '?', '#', '\0') }),
  )
  const anyClick = fc.record({
    id: text,
    at: fc.double({ noNaN: true, noDefaultInfinity: true }),
    workspaceId: text,
    linkNumber: text,
    url: fc.oneof(text, fc.webUrl({ withQueryParameters: true })),
    trigger: fc.constantFrom('link' as const, 'qr' as const, 'pageview' as const),
    ip: fc.oneof(text, fc.ipV4(), fc.ipV6()),
    userAgent: text,
    referer: fc.oneof(text, fc.webUrl({ withFragments: true })),
    bot: text,
    country: fc.oneof(text, fc.constantFrom('US', 'de', ' FR ')),
    region: text,
    city: text,
    continent: fc.oneof(text, fc.constantFrom('EU', 'as')),
  })
  fc.assert(
    fc.property(anyClick, (click) => {
      const { at, ...texts } = enrich(startDraft(rawClick.parse(click)), context)
      expect(at).toBe(click.at)
      for (const value of Object.values(texts)) expect(value).toBeTypeOf('string')
    }),
    { numRuns: 500 },
  )
})
