import { sleep } from '../platform/clock.ts'
import type { Platform } from '../platform/context.ts'

export type Handles = Pick<Platform, 'config' | 'db' | 'clickhouse'>
/** The result of one read. `next` is the position of the following one; undefined at the end. */
type Step = { findings: unknown[]; percent: number; next: unknown }
type Finding<Part extends Step> = Part['findings'][number]
type Position<Part extends Step> = NonNullable<Part['next']>

/** Two or more sources that must agree in every bucket, such as the counters of links and the rows of their clicks. */
type Comparison<Part extends Step> = {
  first: Position<Part> | undefined
  /** The second read, during the pause, also gets the findings of the first. */
  read: (platform: Handles, position: Position<Part>, suspects?: Finding<Part>[]) => Promise<Part>
  findBucket: (finding: Finding<Part>) => string
  /** Runs `work` while no source changes; `isLocked` is false when a batch does not finish. */
  pause: <Result>(
    platform: Handles,
    suspects: Finding<Part>[],
    work: (platform: Handles, isLocked: boolean) => Promise<Result>,
  ) => Promise<Result>
  /** Makes the sources agree, during the pause. */
  repair: (platform: Handles, findings: Finding<Part>[]) => Promise<Finding<Part>[]>
  /** The part of a repair that must run after the pause. */
  finish?: (platform: Handles, finding: Finding<Part>) => Promise<Finding<Part>>
}

const recheckAfterMs = 2_000

/** Compares the sources step by step. Differences caused by a batch in progress disappear at the second read. */
export async function* compare<Part extends Step>(
  platform: Handles,
  comparison: Comparison<Part>,
  repair: boolean,
): AsyncGenerator<Part> {
  let position: Part['next'] = comparison.first
  while (position !== undefined && position !== null) {
    const part: Part = await comparison.read(platform, position)
    const { findings, next } = part
    const isSound = findings.length === 0
    yield isSound ? part : { ...part, findings: await confirm(platform, comparison, { position, findings, repair }) }
    position = next
  }
}

/** Reads the same again while no source changes, and repairs the remaining differences. */
async function confirm<Part extends Step>(
  platform: Handles,
  { read, findBucket, pause, repair, finish }: Comparison<Part>,
  suspected: { position: Position<Part>; findings: Finding<Part>[]; repair: boolean },
): Promise<Finding<Part>[]> {
  await sleep(recheckAfterMs)
  const known = new Set(suspected.findings.map(findBucket))
  const { findings, isRepairing } = await pause(platform, suspected.findings, async (platform, isLocked) => {
    const again = await read(platform, suspected.position, suspected.findings)
    const confirmed = again.findings.filter((finding) => known.has(findBucket(finding)))
    const isRepairing = suspected.repair && isLocked
    return { findings: isRepairing ? await repair(platform, confirmed) : confirmed, isRepairing }
  })
  if (!isRepairing || !finish) return findings
  const finished: Finding<Part>[] = []
  for (const finding of findings) finished.push(await finish(platform, finding))
  return finished
}

type Joined<Sources extends Record<string, object[]>> = { [Name in keyof Sources]?: Sources[Name][number] }

/** Joins the rows of several sources by bucket. A source that lacks a bucket leaves its name undefined. */
export function joinByBucket<Sources extends Record<string, object[]>>(
  sources: Sources,
  findBucket: (row: Sources[keyof Sources][number]) => string,
): Joined<Sources>[] {
  const buckets = new Map<string, Joined<Sources>>()
  for (const name of Object.keys(sources) as (keyof Sources)[]) {
    for (const row of sources[name] ?? []) {
      const bucket = findBucket(row)
      buckets.set(bucket, { ...buckets.get(bucket), [name]: row } as Joined<Sources>)
    }
  }
  return [...buckets.values()]
}
