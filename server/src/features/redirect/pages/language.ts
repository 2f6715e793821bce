export const languages = ['en', 'de', 'es', 'fr', 'zh', 'ja'] as const
export type Language = (typeof languages)[number]

/** The supported language that `Accept-Language` prefers; English when it lists none. */
export function chooseLanguage(acceptLanguage: string): Language {
  let best: Language = 'en'
  let most = 0
  for (const range of acceptLanguage.slice(0, 500).split(',')) {
    const [tag = '', ...parameters] = range.toLowerCase().split(';')
    const language = languages.find((ours) => ours === tag.trim().split('-', 1)[0])
    const weight = parseWeight(parameters)
    if (!language || weight <= most) continue
    best = language
    most = weight
  }
  return best
}

function parseWeight(parameters: string[]): number {
  const given = parameters.map((text) => text.trim()).find((text) => text.startsWith('q='))
  if (given === undefined) return 1
  const weight = Number(given.slice(2) || Number.NaN)
  return weight >= 0 && weight <= 1 ? weight : 0
}
