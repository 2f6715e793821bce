export type Variant = { url: string; percentage: number }
export type Outcome = { url: string; leads: number; clicks: number }

/**
 * The A/B test variant with the most leads, then the most clicks; undefined without visitors. A destination URL may
 * have additional parameters of its visitor, so it counts for the longest variant whose parameters it has.
 */
export function chooseWinner(variants: Variant[], outcomes: Outcome[]): Variant | undefined {
  const totals = variants.map((variant) => ({ variant, leads: 0, clicks: 0 }))
  for (const outcome of outcomes) {
    const fitting = totals
      .filter(({ variant }) => leadsTo(outcome.url, variant.url))
      .sort((a, b) => b.variant.url.length - a.variant.url.length)[0]
    if (!fitting) continue
    fitting.leads += outcome.leads
    fitting.clicks += outcome.clicks
  }
  const best = totals.toSorted((a, b) => b.leads - a.leads || b.clicks - a.clicks)[0]
  return best && best.leads + best.clicks > 0 ? best.variant : undefined
}

function leadsTo(url: string, variant: string): boolean {
  if (!URL.canParse(url) || !URL.canParse(variant)) return false
  const [actual, required] = [new URL(url), new URL(variant)]
  if (actual.origin !== required.origin || actual.pathname !== required.pathname) return false
  return [...required.searchParams].every(([name, value]) => actual.searchParams.getAll(name).includes(value))
}
