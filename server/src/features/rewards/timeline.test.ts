import { expect, test } from 'vitest'
import { buildVersion } from '../../../test/rewards.ts'
import { chooseAt, laterVersions } from './timeline.ts'

const day = (text: string) => new Date(`${text}T00:00:00Z`)
const first = buildVersion({}, { version: 1, createdAt: day('2026-01-01') })
const second = buildVersion({}, { version: 2, createdAt: day('2026-02-01'), appliesToAll: true })
const own = buildVersion({}, { rewardNumber: 99n, createdAt: day('2026-02-10') })
const timeline = {
  group: [
    { version: first, until: day('2026-02-01') },
    { version: second, until: day('2026-03-01') },
  ],
  partner: [{ version: own, until: null }],
}

test('an event has the version that was current at its time', () => {
  const none = { partner: null, group: null }
  expect(chooseAt(timeline, new Date(day('2026-01-01').getTime() - 1))).toEqual(none)
  expect(chooseAt(timeline, day('2026-01-01'))).toEqual({ ...none, group: first })
  expect(chooseAt(timeline, new Date(day('2026-02-01').getTime() - 1))).toEqual({ ...none, group: first })
  expect(chooseAt(timeline, day('2026-02-01'))).toEqual({ ...none, group: second })
  expect(chooseAt(timeline, day('2026-02-10'))).toEqual({ partner: own, group: second })
  expect(chooseAt(timeline, day('2026-03-01'))).toEqual({ partner: own, group: null })
})

test('a bound version is followed by those of its own reward that apply to all', () => {
  expect(laterVersions(timeline, first)).toEqual([second])
  expect(laterVersions(timeline, second)).toEqual([])
  expect(laterVersions(timeline, own)).toEqual([])
})
