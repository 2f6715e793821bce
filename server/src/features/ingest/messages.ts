import { z } from 'zod'

const text = z.string()

/** Clicks of people as they were stored; `timestamp` in milliseconds. */
export const clicksStored = z.object({
  workspaceId: text,
  clicks: z.array(
    z.object({
      timestamp: z.number(),
      id_text: text,
      link_number: text,
      url: text,
      trigger: text,
      ip: text,
      country: text,
      region: text,
      city: text,
      continent: text,
      device: text,
      browser: text,
      os: text,
      referer: text,
      referer_url: text,
    }),
  ),
})
export type ClicksStored = z.infer<typeof clicksStored>

export const clicksStoredSubject = 'webhooks.*.clicks'

export function clicksStoredMessage(body: ClicksStored, partition: number) {
  return { subject: `webhooks.${partition}.clicks`, body }
}
