/** Rows of a measurement as a table of Markdown, so that they can be kept as they are. */
export function table(title: string, columns: string[], rows: (string | number)[][]): string {
  const lines = [[title, ...columns], [title, ...columns].map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The middle one of several rounds: on a shared machine the mean says nothing. */
export function middle(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
