import { expect, test } from 'vitest'
import { sampleEvent } from './webhook-samples.ts'
import { triggers, webhookEvent } from './webhooks.ts'

test.each(triggers)('a sample of %s matches the contract', (trigger) => {
  const sender = { workspaceId: 'ws_1', apiUrl: 'https://api.example.com' }
  const event = sampleEvent('evt_1', trigger, new Date('2026-01-01T00:00:00Z'), sender)
  expect(event).toMatchObject({ id: 'evt_1', event: trigger, createdAt: '2026-01-01T00:00:00.000Z' })
  expect(webhookEvent.parse(event)).toEqual(event)
})
