import { describe, expect, test } from 'vitest'
import { settingsProblem } from './settings.ts'

const absolute = 'must be an absolute URL such as https://example.com/page'
const array = '`assetLinks` in the body must be the JSON text of an array, at most 32 levels deep.'
const object = '`appleAppSiteAssociation` in the body must be the JSON text of an object, at most 32 levels deep.'
const image = '`logo` in the body must be a base64 data URL of a PNG, JPEG, GIF or WebP image.'

describe.each(['expiredUrl', 'notFoundUrl', 'logo'] as const)('%s', (name) => {
  test.each(['https://example.com', 'http://example.com/a?b#c', 'HTTPS://EXAMPLE.com/ä', null, undefined])(
    'accepts %j',
    (value) => expect(settingsProblem({ [name]: value })).toBeUndefined(),
  )

  test.each([
    ['', absolute],
    ['example.com', absolute],
    ['/path', absolute],
    ['https://', absolute],
    ['javascript:alert(1)', 'must start with http:// or https://'],
    ['ftp://example.com', 'must start with http:// or https://'],
    ['https://a:b@example.com', 'must not contain a user name or password'],
    ['https://example.com/\r\nX: y', 'must not contain control characters'],
  ])('refuses %j', (value, problem) => {
    expect(settingsProblem({ [name]: value })).toBe(`\`${name}\` in the body ${problem}.`)
  })
})

test.each([
  ['data:image/png;base64,iVBORw0KGgo=', undefined],
  ['data:image/jpeg;base64,/9j/4AAQ', undefined],
  ['data:image/jpg;base64,/9j/4AAQ', undefined],
  ['data:image/webp;base64,UklGRg==', undefined],
  ['data:image/svg+xml;base64,PHN2Zz4=', image],
  ['data:text/html;base64,PGI+', image],
  ['data:image/png,raw', image],
  ['data:image/png;base64,', image],
  ['data:image/png;base64,a b', image],
])('the logo %j has the problem %s', (logo, problem) => expect(settingsProblem({ logo })).toBe(problem))

test.each([
  ['[]', undefined],
  ['[{"relation":["delegate_permission/common.handle_all_urls"]}]', undefined],
  [null, undefined],
  ['{}', array],
  ['', array],
  ['[', array],
  ['"[]"', array],
  ['null', array],
])('assetLinks %j: %s', (assetLinks, problem) => expect(settingsProblem({ assetLinks })).toBe(problem))

test.each([
  ['{}', undefined],
  ['{"applinks":{"details":[]}}', undefined],
  [null, undefined],
  ['[]', object],
  ['', object],
  ['{', object],
  ['null', object],
  ['5', object],
])('appleAppSiteAssociation %j: %s', (appleAppSiteAssociation, problem) => {
  expect(settingsProblem({ appleAppSiteAssociation })).toBe(problem)
})
