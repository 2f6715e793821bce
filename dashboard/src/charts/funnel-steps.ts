export type FunnelStep = { id: string; name: string; value: number; text: string; className: string }

export type FunnelRow = FunnelStep & {
  /** Height of its bar, 0 to 100. */
  height: number
  /** Its value by that of the step before, and by that of the first; undefined where that is zero. */
  ofPrevious?: number
  ofFirst?: number
}

/** Heights and rates of the steps. The highest value fills the height, which is nearly always the first. */
export function measureSteps(steps: readonly FunnelStep[]): FunnelRow[] {
  const most = Math.max(1, ...steps.map(({ value }) => value))
  return steps.map((step, index) => ({
    ...step,
    height: step.value > 0 ? Math.max(1, (step.value / most) * 100) : 0,
    ofPrevious: index === 0 ? undefined : rate(step.value, steps[index - 1]?.value),
    ofFirst: index === 0 ? undefined : rate(step.value, steps[0]?.value),
  }))
}

function rate(value: number, whole = 0): number | undefined {
  return whole > 0 ? value / whole : undefined
}
