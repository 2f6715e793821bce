import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { parseKeys } from '../../platform/seal.ts'
import { newSecret, openSecrets, sealSecret } from './secrets.ts'

const keys = parseKeys(`1:${randomBytes(32).toString('hex')}`)
const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-02T00:00:00Z')]

test('a webhook secret has the Standard Webhooks format and is unique', () => {
  const secret = newSecret()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(newSecret()).not.toBe(secret)
  const signed = new Webhook(secret).sign('evt_1', new Date(), '{}')
  expect(signed).toMatch(/^v1,/)
})

test('deliveries are signed with the previous secret too until it expires', () => {
  const [former, current] = [newSecret(), newSecret()]
  const webhook = {
    id: 'whk_1',
    sealed_secret: sealSecret(keys, 'whk_1', current),
    sealed_former_secret: sealSecret(keys, 'whk_1', former),
    former_secret_until: late,
  }
  expect(openSecrets(keys, webhook, early)).toEqual([current, former])
  expect(openSecrets(keys, webhook, late)).toEqual([current])
  expect(openSecrets(keys, { ...webhook, sealed_former_secret: null, former_secret_until: null }, early)).toEqual([
    current,
  ])
})

test('an encrypted secret can not be decrypted for another webhook', () => {
  const sealed_secret = sealSecret(keys, 'whk_1', newSecret())
  const moved = { id: 'whk_2', sealed_secret, sealed_former_secret: null, former_secret_until: null }
  expect(() => openSecrets(keys, moved, early)).toThrow()
})
