import { sleep } from '../platform/clock.ts'
import type { Platform } from '../platform/context.ts'

export type Handles = Pick<Platform, 'config' | 'db' | 'clickhouse'>
/** The differences found by one read of a batch. `next` is the position of the next read; undefined after the last. */
type Step = { findings: unknown[]; percent: number; next: unknown }
type Finding<Part extends Step> = Part['findings'][number]
type Position<Part extends Step> = NonNullable<Part['next']>

/** A comparison of sources that must agree in every bucket, such as link counters and click rows of each link. */
type Comparison<Part extends Step> = {
  first: Position<Part> | undefined
  /** Reads the sources from a position. `suspects`, for the second read, are the differences that the first found. */
  read: (platform: Handles, position: Position<Part>, suspects?: Finding<Part>[]) => Promise<Part>
  findBucket: (finding: Finding<Part>) => string
  /** Runs `work` while no source changes; `isLocked` is false when a running batch did not finish in time. */
  pause: <Result>(
    platform: Handles,
    suspects: Finding<Part>[],
    work: (platform: Handles, isLocked: boolean) => Promise<Result>,
  ) => Promise<Result>
  /** Repairs the differences, while no source changes. */
  repair: (platform: Handles, findings: Finding<Part>[]) => Promise<Finding<Part>[]>
  /** The part of a repair that must run after `pause`, when sources can change again. */
  finish?: (platform: Handles, finding: Finding<Part>) => Promise<Finding<Part>>
}

const recheckAfterMs = 2_000

/** Compares sources batch by batch. Reads differences twice, to ignore those caused by a batch that is being stored. */
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

/** Reads suspected differences again while no source changes, and repairs those that remain. */
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

/** Joins rows of several sources by bucket. A source without a row for the bucket is undefined in the result. */
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
