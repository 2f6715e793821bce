import { z } from '@hono/zod-openapi'

export const tagColors = ['red', 'yellow', 'green', 'blue', 'purple', 'brown', 'gray', 'pink'] as const

export const tag = z.strictObject({ id: z.string(), name: z.string(), color: z.enum(tagColors) }).meta({ id: 'Tag' })
export type Tag = z.infer<typeof tag>
