import { describe, expect, inject, test } from 'vitest'
import { readConfig } from '../../platform/config.ts'
import { requireAddress, resolveScope, resolveStanding } from './settings.ts'
import type { WebhookRow } from './store.ts'

const config = readConfig(inject('environment'))

describe('requireAddress', () => {
  test.each([
    ['https://example.com/hooks', 'https://example.com/hooks'],
    ['http://EXAMPLE.com', 'http://example.com/'],
    ['https://example.com:443/a?b=c#part', 'https://example.com/a?b=c'],
    ['https://münchen.example/ä', 'https://xn--mnchen-3ya.example/%C3%A4'],
    ['https://93.184.216.34/', 'https://93.184.216.34/'],
  ])('the webhook URL %s is stored as %s', (given, stored) => expect(requireAddress(given, config)).toBe(stored))

  test.each([
    ['example.com/hooks', 'must be an absolute address'],
    ['', 'must be an absolute address'],
    ['ftp://example.com/', 'must begin with https://'],
    ['javascript:alert(1)', 'must begin with https://'],
    ['https://user:password@example.com/', 'must not have a user name'],
    ['https://example.com:8443/', 'has a port'],
    ['http://127.0.0.1/', 'is not on the public internet'],
    ['http://2130706433/', 'is not on the public internet'],
    ['http://0x7f.1/', 'is not on the public internet'],
    ['http://[::1]/', 'is not on the public internet'],
    ['http://[::ffff:169.254.169.254]/', 'is not on the public internet'],
    ['http://10.0.0.1/', 'is not on the public internet'],
  ])('the webhook URL %s is refused', (given, problem) => {
    expect(() => requireAddress(given, config)).toThrow(problem)
    expect(() => requireAddress(given, config)).toThrow(expect.objectContaining({ code: 'unprocessable_entity' }))
  })

  test('webhooks can call private hosts in OUTBOUND_ALLOWED_HOSTS', () => {
    const open = readConfig({
      ...inject('environment'),
      OUTBOUND_ALLOWED_HOSTS: '127.0.0.0/8',
      OUTBOUND_ALLOWED_PORTS: '8443',
    })
    expect(requireAddress('http://127.0.0.1:8443/', open)).toBe('http://127.0.0.1:8443/')
  })
})

describe('resolveScope', () => {
  const inFolders = { scope: 'folders' as const, folder_ids: ['a', 'b'] }

  test.each([
    [{}, undefined, { scope: 'workspace', folder_ids: [] }],
    [{ linkScope: 'folders', folderIds: ['a', 'a', 'b'] }, undefined, inFolders],
    [{ linkScope: 'links', linkIds: ['l'] }, undefined, { scope: 'links', folder_ids: [] }],
    [{ linkScope: 'links' }, undefined, { scope: 'links', folder_ids: [] }],
    [{}, inFolders, inFolders],
    [{ folderIds: ['c'] }, inFolders, { scope: 'folders', folder_ids: ['c'] }],
    [{ linkScope: 'workspace', folderIds: [] }, inFolders, { scope: 'workspace', folder_ids: [] }],
    [{ linkScope: 'folders' }, inFolders, inFolders],
  ] as const)('the scope of the input %j and the current scope %j is %j', (input, current, scope) => {
    expect(resolveScope(structuredClone(input) as object, current as typeof inFolders | undefined)).toEqual(scope)
  })

  test.each([
    [
      { folderIds: ['a'] },
      undefined,
      '`folderIds` in the body requires the `linkScope` `folders`; here it is `workspace`.',
    ],
    [{ linkIds: ['l'] }, inFolders, '`linkIds` in the body requires the `linkScope` `links`; here it is `folders`.'],
    [{ linkScope: 'folders' as const }, undefined, 'at least one folder'],
    [{ folderIds: [] }, inFolders, 'at least one folder'],
  ])('%j in scope %j is refused', (input, current, error) => expect(() => resolveScope(input, current)).toThrow(error))
})

describe('resolveStanding', () => {
  const [then, now] = [new Date('2026-01-01'), new Date('2026-02-02')]
  const enabled = { disabled_at: null, disabled_reason: null, failing_since: then } as WebhookRow
  const disabled = { disabled_at: then, disabled_reason: 'gone', failing_since: then } as WebhookRow

  test.each([
    ['a patch without `disabled` changes nothing', {}, disabled, {}],
    ['enabling an enabled webhook changes nothing', { disabled: false }, enabled, {}],
    ['disabling a disabled webhook keeps its reason', { disabled: true }, disabled, {}],
    ['disabling sets the reason', { disabled: true }, enabled, { disabled_at: now, disabled_reason: 'asked' }],
    ['enabling', { disabled: false }, disabled, { disabled_at: null, disabled_reason: null, failing_since: null }],
  ])('%s', (_name, patch, current, changes) => expect(resolveStanding(patch, current, now)).toEqual(changes))
})
