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
    // Links that are found and not found.
    ['a link leads to its destination', {}, { ...sent, destination: plainLink.url, index: false, trigger: 'link' }],
    ['a missing link gets a page', { link: null }, page(404, 'not-found')],
    [
      "a missing link leads to the domain's not-found URL",
      { link: null, domain: { notFoundUrl: lost } },
      instead(lost),
    ],
    ['a missing domain gets a page', { domain: null, link: null }, page(404, 'not-found')],
    ['a missing domain gets a page, even if a link was found', { domain: null }, page(404, 'not-found')],
    ['a key that no link can have', { key: null, link: null }, page(404, 'not-found')],
    [
      "an impossible key leads to the domain's not-found URL",
      { key: null, link: null, domain: { notFoundUrl: lost } },
      instead(lost),
    ],
    ['an undecodable path', { key: null, link: null, visit: { path: null } }, page(404, 'not-found')],
    ['the bare domain has a root link', { key: '_root', visit: { path: '' }, link: { key: '_root' } }, sent],
    [
      'the bare domain without a root link gets a page',
      { key: '_root', visit: { path: '' }, link: null },
      page(404, 'not-found'),
    ],
    [
      'the bare domain without a root link leads to the not-found URL',
      { key: '_root', visit: { path: '' }, link: null, domain: { notFoundUrl: lost } },
      instead(lost),
    ],
    [
      'a not-found URL that is not found itself does not loop',
      { link: null, domain: { notFoundUrl: 'https://GO.example/Go?again=1' } },
      page(404, 'not-found'),
    ],
    [
      'the bare domain as its own not-found URL does not loop',
      { key: '_root', visit: { path: '' }, link: null, domain: { notFoundUrl: 'https://go.example' } },
      page(404, 'not-found'),
    ],
    [
      'the bare domain as the not-found URL',
      { link: null, domain: { notFoundUrl: 'https://go.example' } },
      instead('https://go.example'),
    ],
    ['an invalid not-found URL', { link: null, domain: { notFoundUrl: 'lost' } }, page(404, 'not-found')],
    [
      'a not-found URL with a script scheme',
      { link: null, domain: { notFoundUrl: 'javascript:0' } },
      page(404, 'not-found'),
    ],
    [
      'a not-found URL with an app scheme',
      { link: null, domain: { notFoundUrl: 'mailto:a@b.c' } },
      page(404, 'not-found'),
    ],
    [
      'a not-found URL in another script',
      { link: null, domain: { notFoundUrl: 'https://exämple.com/schön' } },
      instead('https://xn--exmple-cua.com/sch%C3%B6n'),
    ],

    // Banned, disabled and expired links, checked in this order and before the password.
    ['a banned link', { link: banned }, page(410, 'banned')],
    ['a link banned at the epoch', { link: { bannedAt: 0 } }, page(410, 'banned')],
    [
      "a banned link ignores the domain's URLs",
      { link: banned, domain: { notFoundUrl: lost, expiredUrl: over } },
      page(410, 'banned'),
    ],
    ['banned and disabled', { link: { ...banned, ...disabled }, domain: { notFoundUrl: lost } }, page(410, 'banned')],
    ['banned and expired', { link: { ...banned, ...expired, expiredUrl: over } }, page(410, 'banned')],
    ['banned with a password', { link: { ...banned, ...password } }, page(410, 'banned')],
    ['a disabled link', { link: disabled }, page(410, 'disabled')],
    ['a link disabled at this moment', { link: { disabledAt: now } }, page(410, 'disabled')],
    ['a link disabled at the epoch', { link: { disabledAt: 0 } }, page(410, 'disabled')],
    [
      "a disabled link leads to the domain's expired URL",
      { link: disabled, domain: { notFoundUrl: lost } },
      instead(lost),
    ],
    ['disabled and expired', { link: { ...disabled, ...expired, expiredUrl: over } }, page(410, 'disabled')],
    ['disabled with a password', { link: { ...disabled, ...password } }, page(410, 'disabled')],
    ['a link that expires later', { link: { expiresAt: now + 1 } }, sent],
    ['a link that expires at this moment', { link: { expiresAt: now } }, page(410, 'expired')],
    ['an expired link', { link: expired }, page(410, 'expired')],
    ['a link expired at the epoch', { link: { expiresAt: 0 } }, page(410, 'expired')],
    ['an expired link leads to its expired URL', { link: { ...expired, expiredUrl: over } }, instead(over)],
    [
      "an expired link leads to the domain's expired URL",
      { link: expired, domain: { expiredUrl: over } },
      instead(over),
    ],
    [
      "the link's expired URL takes precedence",
      { link: { ...expired, expiredUrl: over }, domain: { expiredUrl: lost } },
      instead(over),
    ],
    [
      'an expired URL with a script scheme is ignored',
      { link: { ...expired, expiredUrl: 'javascript:0' }, domain: { expiredUrl: over } },
      instead(over),
    ],
    [
      'an expired URL that is the link itself does not loop',
      { link: { ...expired, expiredUrl: 'https://go.example/go' } },
      page(410, 'expired'),
    ],
    [
      'an expired link does not use the not-found URL',
      { link: expired, domain: { notFoundUrl: lost } },
      page(410, 'expired'),
    ],
    [
      'an expired URL is unused before expiry',
      { link: { expiresAt: now + 1, expiredUrl: over }, domain: { expiredUrl: over } },
      sent,
    ],
    ['an expired URL without an expiry is unused', { link: { expiredUrl: over } }, sent],
    ['expired with a password', { link: { ...expired, ...password } }, page(410, 'expired')],
    [
      'an expired URL gets no click id',
      { link: { ...expired, expiredUrl: over, trackConversion: true } },
      instead(over),
    ],
    [
      'an expired URL gets no query',
      { link: { ...expired, expiredUrl: over }, visit: { query: 'a=b' } },
      instead(over),
    ],

    // Links with a password.
    ['a protected link asks for its password', { link: password }, page(200, 'password')],
    ['a protected link asks on HEAD too', { link: password, visit: { method: 'HEAD' } }, page(200, 'password')],
    [
      'a protected link asks crawlers too',
      { link: { ...password, proxy: true }, visit: crawler },
      page(200, 'password'),
    ],
    [
      'a password in the URL is ignored',
      { link: password, visit: { query: 'pw=secret&password=secret' } },
      page(200, 'password'),
    ],
    [
      'a wrong password',
      { link: password, visit: { method: 'POST' }, attempt: { outcome: 'wrong' } },
      page(403, 'password'),
    ],
    [
      'a password from another site',
      { link: password, visit: { method: 'POST' }, attempt: { outcome: 'foreign' } },
      page(403, 'password'),
    ],
    [
      'too many',
      { link: password, visit: { method: 'POST' }, attempt: { outcome: 'limited', retryAfter: 77 } },
      { ...page(429, 'password'), retryAfter: 77 },
    ],
    [
      'the correct password',
      { link: password, visit: { method: 'POST' }, attempt: { outcome: 'right' } },
      to(plainLink.url, 303),
    ],
    [
      'the correct password for an expired link',
      { link: { ...password, ...expired, expiredUrl: over }, visit: { method: 'POST' }, attempt: { outcome: 'right' } },
      instead(over, 303),
    ],
    [
      'the correct password opens a frame',
      { link: { ...password, rewrite: true }, visit: { method: 'POST' }, attempt: { outcome: 'right' } },
      { status: 200, page: { kind: 'cloak' }, record: true },
    ],

    // A/B test variants.
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
      'percentages are relative to each other',
      { link: { testVariants: variants.slice(1) }, share: 0.59 },
      to('https://example.com/b'),
    ],
    [
      'percentages that add up to more than 100',
      { link: { testVariants: [...variants, ...variants] }, share: 0.99 },
      to('https://example.com/c'),
    ],
    ['no variants', { link: { testVariants: [] }, share: 0.5 }, sent],
    ['variants that are all zero', { link: { testVariants: [{ url: over, percentage: 0 }] } }, sent],
    ['a test that starts later', { link: { testVariants: variants, testStartedAt: now + 1 } }, sent],
    [
      'a test that starts at this moment',
      { link: { testVariants: variants, testStartedAt: now } },
      to('https://example.com/a'),
    ],
    [
      'a test that ends later',
      { link: { testVariants: variants, testCompletedAt: now + 1 } },
      to('https://example.com/a'),
    ],
    ['a test that ends at this moment', { link: { testVariants: variants, testCompletedAt: now } }, sent],
    ['a test that has ended', { link: { testVariants: variants, testCompletedAt: now - 1 }, share: 0.9 }, sent],

    // Destinations by device, then by country, then by A/B test variant.
    ['an iPhone', { link: apps, visit: iphone }, to(apps.ios)],
    ['an iPad', { link: apps, visit: ipad }, to(apps.ios)],
    ['Android', { link: apps, visit: pixel }, to(apps.android)],
    ['a Windows phone that also says Android', { link: apps, visit: lumia }, sent],
    ['a computer', { link: apps }, sent],
    ['an iPhone without an iOS destination', { link: { android: apps.android }, visit: iphone }, sent],
    ['Android without an Android destination', { link: { ios: apps.ios }, visit: pixel }, sent],
    ['a country', { link: { geo }, visit: germany }, to(geo.DE)],
    ['a country in lower case', { link: { geo }, visit: { location: { country: ' fr ' } } }, to(geo.FR)],
    ['another country', { link: { geo }, visit: { location: { country: 'US' } } }, sent],
    ['no country', { link: { geo } }, sent],
    ['a country named like an object property', { link: { geo }, visit: { location: { country: '__proto__' } } }, sent],
    [
      'a device takes precedence over a country',
      { link: { ...apps, geo }, visit: { ...iphone, ...germany } },
      to(apps.ios),
    ],
    ['a country applies to other devices', { link: { ...apps, geo }, visit: germany }, to(geo.DE)],
    [
      'a country takes precedence over a variant',
      { link: { geo, testVariants: variants }, visit: germany },
      to(geo.DE),
    ],
    [
      'a device takes precedence over a variant',
      { link: { ...apps, testVariants: variants }, visit: pixel },
      to(apps.android),
    ],

    // Preview pages for crawlers.
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
    ['a person gets no preview', { link: { proxy: true, title: 'T' } }, sent],
    ['a visitor without a user agent gets no preview', { link: { proxy: true }, visit: { userAgent: '' } }, sent],
    ['a crawler gets no preview without custom previews', { link: { title: 'T' }, visit: crawler }, sent],
    [
      "a crawler's HEAD",
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

    // Destinations in a frame, and apps.
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
    ['an app store link is not framed', { link: { rewrite: true, ...apps }, visit: iphone }, to(apps.ios)],
    [
      'an app is not framed',
      { link: { rewrite: true, url: 'tel:+49301' } },
      { page: { kind: 'app', url: 'tel:+49301' } },
    ],
    [
      'an app on a device',
      { link: { ios: 'myapp://open/7' }, visit: iphone },
      { page: { kind: 'app', url: 'myapp://open/7' } },
    ],

    // Destinations that are refused even if they are stored.
    [
      'a variant that is a script',
      { link: { testVariants: [{ url: 'javascript:0', percentage: 1 }] } },
      page(404, 'not-found'),
    ],
    ['a country that is data', { link: { geo: { DE: 'data:text/html,x' } }, visit: germany }, page(404, 'not-found')],
    ['a device that is a file', { link: { ios: 'file:///etc/passwd' }, visit: iphone }, page(404, 'not-found')],
    [
      'a refused destination leads to the not-found URL',
      { link: { url: 'javascript:0' }, domain: { notFoundUrl: lost } },
      instead(lost),
    ],

    // Whether search engines may index a link.
    ['a link that may be indexed', { link: { doIndex: true } }, { ...sent, index: true }],
    [
      'a frame that may be indexed',
      { link: { doIndex: true, rewrite: true } },
      { index: true, page: { kind: 'cloak' } },
    ],
    ['an expired link is never indexed', { link: { doIndex: true, ...expired } }, page(410, 'expired')],
    ['a protected link is never indexed', { link: { doIndex: true, ...password } }, page(200, 'password')],
  ])('%s', (_name, given, expected) => {
    const decision = decideFor(given)
    expect(decision).toMatchObject(expected)
    expect([decision.location, decision.page, decision.file].filter(Boolean)).toHaveLength(1)
  })
})

test.each([
  ...['javascript:alert(1)', ' JavaScript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'DATA:,x'],
  ...['vbscript:x', 'file:///etc/passwd', 'blob:https://a.b/c', 'view-source:https://a.b', 'about:blank', 'none', ''],
])('the destination %j is not found', (url) => {
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
])('%s is opened by a page, and counts as a click', (url) => {
  const decision = decideFor({ link: { url } })
  expect(decision).toMatchObject({ status: 200, page: { kind: 'app', url }, destination: url, record: true, bot: '' })
})
