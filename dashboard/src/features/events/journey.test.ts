import { expect, test } from 'vitest'
import type { FeedEvent } from './feed.ts'
import { mergeJourney } from './journey.ts'

const at = (second: number) => new Date(second * 1_000).toISOString()
const click = (second: number) => ({ event: 'click', timestamp: at(second), click: { id: `c${second}` } }) as FeedEvent
const lead = (second: number) => ({ event: 'lead', timestamp: at(second), eventId: `l${second}` }) as FeedEvent
const sale = (second: number, amount = 100) =>
  ({ event: 'sale', timestamp: at(second), eventId: `s${second}`, sale: { amount } }) as FeedEvent

test('steps are in the order of their time, a click before its lead, and each once', () => {
  const { steps, isCut } = mergeJourney([[click(9), click(1)], [lead(1)], [sale(7, -50), sale(5), sale(5)]], 100)
  expect(steps.map(({ key }) => key)).toEqual(['c1', 'l1', 's5', 's7', 'c9'])
  expect(steps.map(({ kind }) => kind)).toEqual(['click', 'lead', 'sale', 'refund', 'click'])
  expect(isCut).toBe(false)
})

test('of a list that is cut, nothing older than its oldest event is shown', () => {
  const { steps, isCut } = mergeJourney([[click(9), click(8)], [lead(1)], [sale(8), sale(3)]], 2)
  expect(steps.map(({ key }) => key)).toEqual(['c8', 's8', 'c9'])
  expect(isCut).toBe(true)
})
