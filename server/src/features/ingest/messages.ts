import { z } from 'zod'

/**
 * A batch of clicks was stored and counted. It names the log messages that contain the clicks, and which of those
 * clicks were dropped or are bots; a subscriber reads the clicks from the log again.
 */
export const clickBatchStored = z.object({
  partition: z.number(),
  /** The creation time of the stream that the sequences belong to. */
  stream: z.string(),
  first: z.number(),
  last: z.number(),
  excluded: z.array(z.number()),
  bots: z.array(z.tuple([z.string(), z.array(z.number())])),
  /** The workspaces with clicks by people; null when there are too many to list. */
  workspaceIds: z.array(z.string()).nullable(),
})
export type ClickBatchStored = z.infer<typeof clickBatchStored>

export const clickBatchSubject = 'changes.*.click-batches'

export function clickBatchMessage(body: ClickBatchStored) {
  return { subject: `changes.${body.partition}.click-batches`, body }
}

/**
 * A link's clicks by people on one day, published after the day is over and its clicks are stored. Clicks that are
 * stored later are published with `isLate`, so the sum over all events of a link and day is exact.
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
