import { describe, expect, test } from 'vitest'
import {
  apps,
  banned,
  crawler,
  decideFor,
  disabled,
  expired,
  type Given,
  geo,
  germany,
  instead,
  ipad,
  iphone,
  lost,
  lumia,
  now,
  over,
  page,
  password,
  pixel,
  plainLink,
  sent,
  to,
  variants,
} from '../../../test/redirect/decide.ts'

describe('every rule', () => {
  test.each<[string, Given, object]>([
    // Found and not found.
    ['a link leads to its destination', {}, { ...sent, destination: plainLink.url, index: false, trigger: 'link' }],
    ['no link: a page', { link: null }, page(404, 'not-found')],
    ['no link, the domain has an address for that', { link: null, domain: { notFoundUrl: lost } }, instead(lost)],
    ['no domain: a page', { domain: null, link: null }, page(404, 'not-found')],
    ['no domain, whatever link was found', { domain: null }, page(404, 'not-found')],
    ['a key that no link can have', { key: null, link: null }, page(404, 'not-found')],
    ['that, with an address', { key: null, link: null, domain: { notFoundUrl: lost } }, instead(lost)],
    ['a path that is no text', { key: null, link: null, visit: { path: null } }, page(404, 'not-found')],
    ['the bare domain has a root link', { key: '_root', visit: { path: '' }, link: { key: '_root' } }, sent],
    ['the bare domain has none', { key: '_root', visit: { path: '' }, link: null }, page(404, 'not-found')],
    [
      'the bare domain has none but an address',
      { key: '_root', visit: { path: '' }, link: null, domain: { notFoundUrl: lost } },
      instead(lost),
    ],
    [
      'an address for what is not found that is not found: no circle',
      { link: null, domain: { notFoundUrl: 'https://GO.example/Go?again=1' } },
      page(404, 'not-found'),
    ],
    [
      'the bare domain as address for the bare domain: no circle',
      { key: '_root', visit: { path: '' }, link: null, domain: { notFoundUrl: 'https://go.example' } },
      page(404, 'not-found'),
    ],
    [
      'the bare domain as address for all others',
      { link: null, domain: { notFoundUrl: 'https://go.example' } },
      instead('https://go.example'),
    ],
    ['an address that is none', { link: null, domain: { notFoundUrl: 'lost' } }, page(404, 'not-found')],
    ['an address that is a script', { link: null, domain: { notFoundUrl: 'javascript:0' } }, page(404, 'not-found')],
    ['an address that is an app', { link: null, domain: { notFoundUrl: 'mailto:a@b.c' } }, page(404, 'not-found')],
    [
      'an address in letters of other scripts',
      { link: null, domain: { notFoundUrl: 'https://exämple.com/schön' } },
      instead('https://xn--exmple-cua.com/sch%C3%B6n'),
    ],

    // Banned, disabled, expired, in this order and before the password.
    ['a banned link', { link: banned }, page(410, 'banned')],
    ['a link banned at the epoch', { link: { bannedAt: 0 } }, page(410, 'banned')],
    [
      'a banned link leads nowhere',
      { link: banned, domain: { notFoundUrl: lost, expiredUrl: over } },
      page(410, 'banned'),
    ],
    ['banned and disabled', { link: { ...banned, ...disabled }, domain: { notFoundUrl: lost } }, page(410, 'banned')],
    ['banned and expired', { link: { ...banned, ...expired, expiredUrl: over } }, page(410, 'banned')],
    ['banned with a password', { link: { ...banned, ...password } }, page(410, 'banned')],
    ['a disabled link', { link: disabled }, page(410, 'disabled')],
    ['a link disabled this moment', { link: { disabledAt: now } }, page(410, 'disabled')],
    ['a link disabled at the epoch', { link: { disabledAt: 0 } }, page(410, 'disabled')],
    ['disabled, the domain has an address', { link: disabled, domain: { notFoundUrl: lost } }, instead(lost)],
    ['disabled and expired', { link: { ...disabled, ...expired, expiredUrl: over } }, page(410, 'disabled')],
    ['disabled with a password', { link: { ...disabled, ...password } }, page(410, 'disabled')],
    ['a link that expires later', { link: { expiresAt: now + 1 } }, sent],
    ['a link that expires this moment', { link: { expiresAt: now } }, page(410, 'expired')],
    ['an expired link', { link: expired }, page(410, 'expired')],
    ['a link expired at the epoch', { link: { expiresAt: 0 } }, page(410, 'expired')],
    ['expired, with an address', { link: { ...expired, expiredUrl: over } }, instead(over)],
    ['expired, the domain has an address', { link: expired, domain: { expiredUrl: over } }, instead(over)],
    [
      'expired, the address of the link comes first',
      { link: { ...expired, expiredUrl: over }, domain: { expiredUrl: lost } },
      instead(over),
    ],
    [
      'expired, the address of the link is a script',
      { link: { ...expired, expiredUrl: 'javascript:0' }, domain: { expiredUrl: over } },
      instead(over),
    ],
    [
      'expired, its address is itself: no circle',
      { link: { ...expired, expiredUrl: 'https://go.example/go' } },
      page(410, 'expired'),
    ],
    ['expired is not unknown', { link: expired, domain: { notFoundUrl: lost } }, page(410, 'expired')],
    ['an address for later on', { link: { expiresAt: now + 1, expiredUrl: over }, domain: { expiredUrl: over } }, sent],
    ['an address for expiry without one', { link: { expiredUrl: over } }, sent],
    ['expired with a password', { link: { ...expired, ...password } }, page(410, 'expired')],
    ['expired gets no click id', { link: { ...expired, expiredUrl: over, trackConversion: true } }, instead(over)],
    ['expired gets no query', { link: { ...expired, expiredUrl: over }, visit: { query: 'a=b' } }, instead(over)],

    // The password.
    ['a password is asked for', { link: password }, page(200, 'password')],
    ['with HEAD too', { link: password, visit: { method: 'HEAD' } }, page(200, 'password')],
    ['also from crawlers', { link: { ...password, proxy: true }, visit: crawler }, page(200, 'password')],
    [
      'in the address it does not count',
      { link: password, visit: { query: 'pw=secret&password=secret' } },
      page(200, 'password'),
    ],
    [
      'a wrong one',
      { link: password, visit: { method: 'POST' }, attempt: { outcome: 'wrong' } },
      page(403, 'password'),
    ],
    [
      'one of another site',
      { link: password, visit: { method: 'POST' }, attempt: { outcome: 'foreign' } },
      page(403, 'password'),
    ],
    [
      'too many',
      { link: password, visit: { method: 'POST' }, attempt: { outcome: 'limited', retryAfter: 77 } },
      { ...page(429, 'password'), retryAfter: 77 },
    ],
    [
      'the right one',
      { link: password, visit: { method: 'POST' }, attempt: { outcome: 'right' } },
      to(plainLink.url, 303),
    ],
    [
      'the right one for an expired link',
      { link: { ...password, ...expired, expiredUrl: over }, visit: { method: 'POST' }, attempt: { outcome: 'right' } },
      instead(over, 303),
    ],
    [
      'the right one opens a frame',
      { link: { ...password, rewrite: true }, visit: { method: 'POST' }, attempt: { outcome: 'right' } },
      { status: 200, page: { kind: 'cloak' }, record: true },
    ],

    // A/B.
    ['the first variant from 0', { link: { testVariants: variants }, share: 0 }, to('https://example.com/a')],
    ['the first variant to its end', { link: { testVariants: variants }, share: 0.4999 }, to('https://example.com/a')],
    ['the second variant', { link: { testVariants: variants }, share: 0.5 }, to('https://example.com/b')],
    ['the last variant', { link: { testVariants: variants }, share: 0.8 }, to('https://example.com/c')],
    [
      'the last variant to the end',
      { link: { testVariants: variants }, share: 1 - 2 ** -48 },
      to('https://example.com/c'),
    ],
    [
      'percentages count among themselves',
      { link: { testVariants: variants.slice(1) }, share: 0.59 },
      to('https://example.com/b'),
    ],
    [
      'percentages that make more than 100',
      { link: { testVariants: [...variants, ...variants] }, share: 0.99 },
      to('https://example.com/c'),
    ],
    ['no variants', { link: { testVariants: [] }, share: 0.5 }, sent],
    ['variants that nobody is to get', { link: { testVariants: [{ url: over, percentage: 0 }] } }, sent],
    ['a test that starts later', { link: { testVariants: variants, testStartedAt: now + 1 } }, sent],
    [
      'a test that starts this moment',
      { link: { testVariants: variants, testStartedAt: now } },
      to('https://example.com/a'),
    ],
    [
      'a test that ends later',
      { link: { testVariants: variants, testCompletedAt: now + 1 } },
      to('https://example.com/a'),
    ],
    ['a test that ends this moment', { link: { testVariants: variants, testCompletedAt: now } }, sent],
    ['a test that has ended', { link: { testVariants: variants, testCompletedAt: now - 1 }, share: 0.9 }, sent],

    // Devices, then countries, then variants.
    ['an iPhone', { link: apps, visit: iphone }, to(apps.ios)],
    ['an iPad', { link: apps, visit: ipad }, to(apps.ios)],
    ['Android', { link: apps, visit: pixel }, to(apps.android)],
    ['a phone of Windows that says Android too', { link: apps, visit: lumia }, sent],
    ['a computer', { link: apps }, sent],
    ['an iPhone without an address for it', { link: { android: apps.android }, visit: iphone }, sent],
    ['Android without an address for it', { link: { ios: apps.ios }, visit: pixel }, sent],
    ['a country', { link: { geo }, visit: germany }, to(geo.DE)],
    ['a country in small letters', { link: { geo }, visit: { location: { country: ' fr ' } } }, to(geo.FR)],
    ['another country', { link: { geo }, visit: { location: { country: 'US' } } }, sent],
    ['no country', { link: { geo } }, sent],
    ['a country called like a property', { link: { geo }, visit: { location: { country: '__proto__' } } }, sent],
    ['a device comes before a country', { link: { ...apps, geo }, visit: { ...iphone, ...germany } }, to(apps.ios)],
    ['a country for other devices', { link: { ...apps, geo }, visit: germany }, to(geo.DE)],
    ['a country comes before a variant', { link: { geo, testVariants: variants }, visit: germany }, to(geo.DE)],
    ['a device comes before a variant', { link: { ...apps, testVariants: variants }, visit: pixel }, to(apps.android)],

    // Previews for crawlers.
    [
      'a crawler gets the preview',
      { link: { proxy: true, title: 'T', image: 'https://example.com/i.png' }, visit: crawler },
      {
        status: 200,
        page: {
          kind: 'preview',
          url: plainLink.url,
          title: 'T',
          description: null,
          image: 'https://example.com/i.png',
        },
        record: true,
        bot: 'user-agent',
      },
    ],
    ['a person does not', { link: { proxy: true, title: 'T' } }, sent],
    ['nobody whose browser is not told', { link: { proxy: true }, visit: { userAgent: '' } }, sent],
    ['not without custom previews', { link: { title: 'T' }, visit: crawler }, sent],
    [
      'HEAD of a crawler',
      { link: { proxy: true }, visit: { ...crawler, method: 'HEAD' } },
      { status: 200, page: { kind: 'preview' }, bot: 'head' },
    ],
    [
      'the preview of a framed link',
      { link: { proxy: true, rewrite: true }, visit: crawler },
      { page: { kind: 'preview' } },
    ],
    [
      'a preview without the click id',
      { link: { proxy: true, trackConversion: true }, visit: crawler },
      { page: { url: plainLink.url } },
    ],

    // Frames and apps.
    [
      'a framed link',
      { link: { rewrite: true, title: 'T', description: 'D' } },
      { status: 200, page: { kind: 'cloak', url: plainLink.url, title: 'T', description: 'D' }, record: true, bot: '' },
    ],
    [
      'a frame with the click id',
      { link: { rewrite: true, trackConversion: true } },
      { page: { url: `${plainLink.url}?trib_id=AbC-_1` } },
    ],
    [
      'a frame for a country',
      { link: { rewrite: true, geo }, visit: germany },
      { page: { kind: 'cloak', url: geo.DE } },
    ],
    ['no frame for the shop of a device', { link: { rewrite: true, ...apps }, visit: iphone }, to(apps.ios)],
    [
      'no frame for an app',
      { link: { rewrite: true, url: 'tel:+49301' } },
      { page: { kind: 'app', url: 'tel:+49301' } },
    ],
    [
      'an app on a device',
      { link: { ios: 'myapp://open/7' }, visit: iphone },
      { page: { kind: 'app', url: 'myapp://open/7' } },
    ],

    // What no link may lead to, even if it is stored.
    [
      'a variant that is a script',
      { link: { testVariants: [{ url: 'javascript:0', percentage: 1 }] } },
      page(404, 'not-found'),
    ],
    ['a country that is data', { link: { geo: { DE: 'data:text/html,x' } }, visit: germany }, page(404, 'not-found')],
    ['a device that is a file', { link: { ios: 'file:///etc/passwd' }, visit: iphone }, page(404, 'not-found')],
    ['that, with an address', { link: { url: 'javascript:0' }, domain: { notFoundUrl: lost } }, instead(lost)],

    // Search engines.
    ['a link that may be listed', { link: { doIndex: true } }, { ...sent, index: true }],
    [
      'a frame that may be listed',
      { link: { doIndex: true, rewrite: true } },
      { index: true, page: { kind: 'cloak' } },
    ],
    ['an expired one never', { link: { doIndex: true, ...expired } }, page(410, 'expired')],
    ['a protected one never', { link: { doIndex: true, ...password } }, page(200, 'password')],
  ])('%s', (_name, given, expected) => {
    const decision = decideFor(given)
    expect(decision).toMatchObject(expected)
    expect([decision.location, decision.page, decision.file].filter(Boolean)).toHaveLength(1)
  })
})

test.each([
  ...['javascript:alert(1)', ' JavaScript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'DATA:,x'],
  ...['vbscript:x', 'file:///etc/passwd', 'blob:https://a.b/c', 'view-source:https://a.b', 'about:blank', 'none', ''],
])('a destination %j is not found', (url) => {
  expect(decideFor({ link: { url } })).toMatchObject(page(404, 'not-found'))
  expect(decideFor({ link: { url, proxy: true }, visit: crawler })).toMatchObject(page(404, 'not-found'))
  expect(decideFor({ link: { url, rewrite: true } })).toMatchObject(page(404, 'not-found'))
})

test.each([
  ...[
    'mailto:a@b.example?subject=Hi',
    'tel:+4930123',
    'sms:+4930123',
    'whatsapp://send?phone=49',
    'tg://resolve?domain=x',
  ],
  ...['xmpp:a@b.example', 'myapp://open/7?a=b#c', 'market://details?id=x', 'intent://a#Intent;scheme=b;end'],
])('%s is opened by a page, and is a click', (url) => {
  const decision = decideFor({ link: { url } })
  expect(decision).toMatchObject({ status: 200, page: { kind: 'app', url }, destination: url, record: true, bot: '' })
})
