import type { Random } from '../random.ts'

const currencies = ['usd', 'eur', 'jpy', 'gbp', 'krw', 'isk', 'huf', 'idr']

/** A click; `link` is an index into the links of its workspace. */
export type Click = { id: string; link: number; isOld: boolean }
/** How often a call is repeated, one after the other or concurrently. */
type Repeat = { times: number; together: boolean }
export type Lead = Repeat & { kind: 'lead'; name: string; click: Click | null; quantity: number; isDeferred: boolean }
export type Sale = Repeat & {
  kind: 'sale'
  invoice: string | null
  amount: number
  currency: string
  click: Click | null
  leadName: string | null
}
export type Refund = Repeat & { kind: 'refund'; invoice: string; id: string | null; amount: number | null }
export type Step = Lead | Sale | Refund

/** Random steps: a fifth of visitors sign up, most of those buy, some get a refund; a quarter of all calls is repeated. */
export function makeSteps(random: Random, clicks: Click[], name: string): Step[] {
  const leads = buildLeads(random, clicks)
  const leadNames = leads.filter(({ isDeferred }) => !isDeferred).map((lead) => lead.name)
  return [...leads, ...buildSales(random, clicks, leadNames, name)]
}

function buildLeads(random: Random, clicks: Click[]): Lead[] {
  const { below, chance, pick } = random
  const steps: Lead[] = []
  if (chance(0.8)) return steps
  const isDeferred = chance(0.05)
  steps.push({ kind: 'lead', name: 'Sign up', click: pick(clicks), quantity: 1, isDeferred, ...repeat(random) })
  if (chance(0.2)) {
    const click = chance(0.5) ? pick(clicks) : null
    steps.push({ kind: 'lead', name: 'Trial', click, quantity: 1 + below(4), isDeferred: false, ...repeat(random) })
  }
  return steps
}

function buildSales(random: Random, clicks: Click[], leadNames: string[], name: string): Step[] {
  const { below, chance, pick } = random
  const steps: Step[] = []
  const hasLead = leadNames.length > 0
  if (chance(hasLead ? 0.4 : 0.96)) return steps
  for (let count = 1 + below(2); count > 0; count--) {
    const invoice = chance(0.9) ? `in-${name}-${count}` : null
    const click = hasLead || chance(0.1) ? null : pick(clicks)
    const leadName = hasLead && chance(0.2) ? pick(leadNames) : null
    const currency = chance(0.02) ? 'xxx' : pick(currencies)
    const amount = chance(0.02) ? 0 : chance(0.1) ? 1 + below(9) : below(2_000_000)
    const again = invoice ? repeat(random) : { times: 1, together: false }
    steps.push({ kind: 'sale', invoice, amount, currency, click, leadName, ...again })
    for (let part = 0; invoice && part < 3 && chance(0.25); part++) {
      const id = chance(0.7) ? `re-${name}-${count}-${part}` : null
      const share = chance(0.4) ? null : 1 + below(Math.floor(amount * 0.7) + 1)
      const again = id ? repeat(random) : { times: 1, together: false }
      steps.push({ kind: 'refund', invoice, id, amount: share, ...again })
    }
  }
  return steps
}

function repeat({ below, chance }: Random): Repeat {
  return chance(0.25) ? { times: 2 + below(2), together: chance(0.5) } : { times: 1, together: false }
}
