import { chunksInTurns } from '../../platform/batches.ts'

export type Variant = { url: string; percentage: number }
export type Outcome = { url: string; leads: number; clicks: number }
type Address = { page: string; parameters: Set<string> }

// A URL of 32,000 characters takes a millisecond or two.
const outcomesAtOnce = 50

/**
 * The A/B test variant with the most leads, then the most clicks; undefined without visitors. A destination URL may
 * have additional parameters of its visitor, so it counts for the longest variant whose parameters it has.
 */
export async function chooseWinner(variants: Variant[], outcomes: Outcome[]): Promise<Variant | undefined> {
  const totals = variants.map((variant) => ({ variant, address: readAddress(variant.url), leads: 0, clicks: 0 }))
  const longestFirst = totals.toSorted((a, b) => b.variant.url.length - a.variant.url.length)
  for await (const some of chunksInTurns(outcomes, outcomesAtOnce)) {
    for (const outcome of some) {
      const actual = readAddress(outcome.url)
      const fitting = longestFirst.find(({ address }) => leadsTo(actual, address))
      if (!fitting) continue
      fitting.leads += outcome.leads
      fitting.clicks += outcome.clicks
    }
  }
  const best = totals.toSorted((a, b) => b.leads - a.leads || b.clicks - a.clicks)[0]
  return best && best.leads + best.clicks > 0 ? best.variant : undefined
}

/** Parameters as they are written: a redirect passes those of a variant on unchanged. */
function readAddress(text: string): Address | undefined {
  const url = URL.parse(text)
  return url ? { page: url.origin + url.pathname, parameters: new Set(url.search.slice(1).split('&')) } : undefined
}

function leadsTo(actual: Address | undefined, required: Address | undefined): boolean {
  if (!actual || !required || actual.page !== required.page) return false
  return [...required.parameters].every((pair) => pair === '' || actual.parameters.has(pair))
}
