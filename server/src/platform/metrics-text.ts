type Family = { head: string[]; samples: string[] }

/** Merges several Prometheus texts; groups the samples of a metric, as the format requires. */
export function mergeMetrics(texts: string[]): string {
  const families = new Map<string, Family>()
  for (const text of texts) addTo(families, text)
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples])
  return lines.length > 0 ? `${lines.join('\n')}\n` : ''
}

/** Adds the metric families of one text. Each begins with `# HELP`, which is kept from the first text only. */
function addTo(families: Map<string, Family>, text: string): void {
  let family: Family = { head: [], samples: [] }
  let isNew = false
  for (const line of text.split('\n')) {
    const [, name] = /^# HELP (\S+)/.exec(line) ?? []
    if (name) {
      isNew = !families.has(name)
      family = families.get(name) ?? { head: [], samples: [] }
      families.set(name, family)
    }
    if (line.startsWith('#')) {
      if (isNew) family.head.push(line)
    } else if (line !== '') family.samples.push(line)
  }
}

type Sample = { labels: Record<string, string | number>; value: number }

export function formatMetric(name: string, type: 'gauge' | 'counter', help: string, samples: Sample[]): string {
  const lines = samples.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`)
    return `${name}{${pairs.join(',')}} ${value}`
  })
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}
