/** Formats measurements as a Markdown table. */
export function table(title: string, columns: string[], rows: (string | number)[][]): string {
  const lines = [[title, ...columns], [title, ...columns].map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Returns the median of several rounds, because other load on a shared machine distorts the mean. */
export function middle(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

export type Target = { name: string; figure: number; atLeast?: number; atMost?: number }

/** Compares rounded results with their targets; returns the missed ones, which fail the benchmark after its table. */
export function missed(targets: Target[]): string[] {
  return targets.flatMap(({ name, figure, atLeast = -Infinity, atMost = Infinity }) => {
    const printed = Number(figure.toFixed(2))
    if (printed < atLeast) return [`${name}: ${printed}, target at least ${atLeast}`]
    // The comparison also treats NaN as missed.
    return printed <= atMost ? [] : [`${name}: ${printed}, target at most ${atMost}`]
  })
}

export function failWhenMissed(targets: Target[]): void {
  for (const line of missed(targets)) {
    console.error(`MISSED ${line}`)
    process.exitCode = 1
  }
}
