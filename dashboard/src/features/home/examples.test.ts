import { expect, test } from 'vitest'
import { leadCall, linkCall, saleCall, scriptTag } from './examples.ts'

const values = { origin: 'https://api.acme.com', domain: 'go.acme.com', slug: 'first', keyPrefix: 'trib_ab12' }

test('examples have the address, domain and key prefix of the workspace', () => {
  expect(scriptTag(values)).toBe('<script defer src="https://api.acme.com/tracker.js"></script>')
  expect(scriptTag(values, 'trib_pk_1')).toContain('tracker.js" data-key="trib_pk_1"></script>')
  expect(linkCall(values)).toContain('"domain": "go.acme.com"')
  expect(leadCall(values)).toMatch(/^curl https:\/\/api\.acme\.com\/track\/lead \\\n.*Bearer trib_ab12…'/)
  expect(saleCall(values, 'eur')).toContain('"currency": "eur"')
})

test('without a key or a domain, examples name neither', () => {
  const call = linkCall({ ...values, domain: '', keyPrefix: undefined })
  expect(call).toContain('Bearer trib_…')
  expect(call).not.toContain('domain')
})
