import { rewardReasoning } from '@tributary/contract/reward-terms'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decision, decide } from '../../src/features/rewards/decide.ts'
import { earningsAfterRefund } from '../../src/features/rewards/refund.ts'
import { sized } from '../size.ts'
import { situation } from './generate.ts'
import { type ModelDecision, modelDecide, modelRecompute, modelRefund } from './model.ts'

const numRuns = sized({ short: 5_000, full: 100_000 })

function simplify(decision: Decision): ModelDecision {
  if ('reason' in decision) return { reason: decision.reason }
  const { earnings, version, binds, dueAt, capped } = decision
  const bindsUntil = binds ? (binds.endsAt?.toISOString() ?? null) : undefined
  return { earnings, version: version.number, bindsUntil, dueAt: dueAt.toISOString(), capped }
}

test('decisions equal those of the plain model', () => {
  const outcomes = new Map<string, number>()
  fc.assert(
    fc.property(situation, ({ event, history, choice }) => {
      const decision = decide(event, history, choice)
      expect(simplify(decision)).toEqual(modelDecide(event, history, choice))
      const outcome = 'reason' in decision ? decision.reason : 'earns'
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }),
    { numRuns },
  )
  const reasons = [
    'no_reward',
    'window_over',
    'capped',
    'not_enrolled',
    'self_referral',
    'zero',
    'voided',
    'duplicate_lead',
  ]
  const expected = ['earns', ...reasons]
  expect([...outcomes.keys()].sort()).toEqual(expected.sort())
  expect(outcomes.get('earns')).toBeGreaterThan(numRuns / 5)
})

test('every explanation is valid and recomputes to its earnings', () => {
  fc.assert(
    fc.property(situation, ({ event, history, choice }) => {
      const decision = decide(event, history, choice)
      const why = rewardReasoning.parse(JSON.parse(JSON.stringify(decision.why)))
      expect(why).toEqual(decision.why)
      const earnings = 'reason' in decision ? 0n : decision.earnings
      expect(why.earnings).toBe(Number(earnings))
      if (earnings > 0n) expect(modelRecompute(why)).toBe(earnings)
    }),
    { numRuns },
  )
})

test('earnings after refunds equal those of the plain model, never grow, and end at zero', () => {
  const shares = fc.array(fc.nat({ max: 1_000 }), { maxLength: 5 })
  fc.assert(
    fc.property(situation, shares, ({ event, history, choice }, shares) => {
      const decision = decide(event, history, choice)
      if ('reason' in decision || event.kind !== 'sale' || event.amount === 0n) return
      expect(earningsAfterRefund(decision.why, event.amount)).toBe(decision.earnings)
      let previous = decision.earnings
      for (const share of shares.sort((one, other) => other - one)) {
        const left = (event.amount * BigInt(share)) / 1_000n
        const earnings = earningsAfterRefund(decision.why, left)
        expect(earnings).toBe(modelRefund(decision.why, left))
        expect(earnings <= previous).toBe(true)
        previous = earnings
      }
      expect(earningsAfterRefund(decision.why, 0n)).toBe(0n)
    }),
    { numRuns },
  )
})
