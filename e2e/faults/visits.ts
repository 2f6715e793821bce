export type TargetLink = { id: string; key: string; domain: string }
export type Kind = 'person' | 'repeat' | keyof typeof botReasons
export type Visit = { kind: Kind; link: TargetLink; request: Buffer }

/** Bot reasons that are stored with clicks of bots. */
export const botReasons = { crawler: 'user-agent', head: 'head', prefetch: 'prefetch' } as const

/** Visits in each cycle besides those of new people. */
const mixture: Kind[] = ['crawler', 'repeat', 'head', 'repeat', 'prefetch']
const mostRemembered = 500
const hourMs = 3_600_000
const nearHourMs = 30_000

export type Visits = {
  next(): Visit
  /** Records a redirected visit, which may be repeated later. */
  remember(visit: Visit): void
}

/** An endless sequence of visits over all links, in fixed proportions, by distinct visitors except for repeats. */
export function openVisits(
  links: TargetLink[],
  options: { repeats: boolean; cycle?: number; firstVisitor?: number },
): Visits {
  const { repeats, cycle = 20 } = options
  let count = options.firstVisitor ?? 0
  const known: Visit[] = []
  return {
    next() {
      const visitor = count++
      const kind = mixture[visitor % cycle] ?? 'person'
      const earlier = known[(visitor * 7) % known.length]
      // No repeat visits near the turn of the hour, because a visit counts again in the next hour.
      if (kind === 'repeat' && earlier && repeats && !isNearHour(Date.now())) return { ...earlier, kind }
      const link = links[Math.floor(visitor / cycle + visitor) % links.length] as TargetLink
      return buildVisit(kind === 'repeat' ? 'person' : kind, link, visitor)
    },
    remember(visit) {
      if (visit.kind !== 'person') return
      known.push(visit)
      if (known.length > mostRemembered) known.shift()
    },
  }
}

export function buildVisit(kind: Kind, link: TargetLink, visitor: number): Visit {
  const lines = [
    `${kind === 'head' ? 'HEAD' : 'GET'} /${link.key} HTTP/1.1`,
    `Host: ${link.domain}`,
    `User-Agent: ${kind === 'crawler' ? `Examplebot/${visitor}.0` : `Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/${visitor}.0`}`,
    'Accept: text/html',
    ...(kind === 'prefetch' ? ['Sec-Purpose: prefetch'] : []),
  ]
  return { kind, link, request: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`) }
}

function isNearHour(now: number): boolean {
  const into = now % hourMs
  return into < nearHourMs || into > hourMs - nearHourMs
}
