import { type BucketUnit, bucketDay } from './buckets.ts'

/** Where notes stand on a chart: at the hour, day or month that has their day. Several at one stand in one text. */
export function chartNotes(
  notes: readonly { day: string; text: string }[],
  starts: readonly string[],
  unit: BucketUnit,
): { index: number; text: string }[] {
  const length = unit === 'month' ? 7 : 10
  const byIndex = new Map<number, string[]>()
  for (const { day, text } of notes.toReversed()) {
    const index = starts.findIndex((start) => bucketDay(start).slice(0, length) === day.slice(0, length))
    if (index >= 0) byIndex.set(index, [...(byIndex.get(index) ?? []), text])
  }
  return [...byIndex].map(([index, texts]) => ({ index, text: texts.join(' · ') })).sort((a, b) => a.index - b.index)
}
