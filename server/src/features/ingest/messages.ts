import { z } from 'zod'

/**
 * Event: a batch of clicks was stored and counted. It has the range of log messages and the positions of clicks that
 * were dropped or made by bots; a subscriber reads the clicks from the log again.
 */
export const clickBatchStored = z.object({
  partition: z.number(),
  /** The creation time of the NATS stream that `first` and `last` are sequences of. */
  stream: z.string(),
  first: z.number(),
  last: z.number(),
  excluded: z.array(z.number()),
  bots: z.array(z.tuple([z.string(), z.array(z.number())])),
  /** The workspaces with clicks by people in this batch; null when there are too many to list. */
  workspaceIds: z.array(z.string()).nullable(),
})
export type ClickBatchStored = z.infer<typeof clickBatchStored>

export const clickBatchSubject = 'changes.*.click-batches'

export function clickBatchMessage(body: ClickBatchStored) {
  return { subject: `changes.${body.partition}.click-batches`, body }
}

/**
 * Event: daily click counts per link, without bots, published after the day is over and its clicks are stored. Clicks
 * stored later are published as another count with `isLate`; the sum of all counts of a link and day is exact.
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
      /** Clicks by country, for links of partners; '' when it is unknown. */
      countries: z.record(z.string(), z.number()).optional(),
    }),
  ),
})
export type ClickDaysClosed = z.infer<typeof clickDaysClosed>

export const clickDaysSubject = 'changes.*.click-days'

export function clickDaysMessage(body: ClickDaysClosed, partition: number) {
  return { subject: `changes.${partition}.click-days`, body }
}
