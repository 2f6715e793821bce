import { z } from 'zod'

/**
 * A batch of clicks was stored and counted. It names the messages of the log that hold the clicks, and which of the clicks
 * in them were not kept or are bots; a subscriber reads the clicks from the log again.
 */
export const clickBatchStored = z.object({
  partition: z.number(),
  /** When the stream was created in which the sequences count. */
  stream: z.string(),
  first: z.number(),
  last: z.number(),
  excluded: z.array(z.number()),
  bots: z.array(z.tuple([z.string(), z.array(z.number())])),
  /** The workspaces that have clicks of people in it; null when they are too many to name. */
  workspaceIds: z.array(z.string()).nullable(),
})
export type ClickBatchStored = z.infer<typeof clickBatchStored>

export const clickBatchSubject = 'changes.*.click-batches'

export function clickBatchMessage(body: ClickBatchStored) {
  return { subject: `changes.${body.partition}.click-batches`, body }
}

/**
 * The clicks of people that a link had on a day, once the day is over and its clicks are stored. Clicks that are stored
 * later are published too, with `isLate`: the sum over all events of a link and day is exact.
 */
export const clickDaysClosed = z.object({
  workspaceId: z.string(),
  days: z.array(
    z.object({
      id: z.string(),
      day: z.string(),
      linkNumber: z.string(),
      clicks: z.number(),
      isLate: z.boolean(),
    }),
  ),
})
export type ClickDaysClosed = z.infer<typeof clickDaysClosed>

export function clickDaysMessage(body: ClickDaysClosed, partition: number) {
  return { subject: `changes.${partition}.click-days`, body }
}
