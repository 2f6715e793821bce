import { z } from 'zod'
import { booleanDefault, listParameter } from './common.ts'

const linkStates = ['active', 'archived', 'expired', 'disabled', 'password', 'test'] as const
export type LinkState = (typeof linkStates)[number]

const time = z.iso.datetime({ offset: true })

/** What `GET /links` and bulk operations can select links by, besides their tags. */
const selected = (text: (most: number) => z.ZodString) => ({
  domain: text(190).optional().describe('Only links of this host.'),
  folderId: text(255).optional().describe('Only links of this folder; `unsorted` for links without a folder.'),
  search: z.string().max(500).optional().describe('Only links whose short URL or destination contains this text.'),
  userId: text(255).optional().describe('Only links that this user created.'),
  partnerId: text(255).optional().describe('Only links of this partner.'),
  tenantId: text(255).optional().describe('Only links of this tenant in your system.'),
  state: z
    .enum(linkStates)
    .optional()
    .describe(
      'Only links in this state: `active` is not archived, disabled or expired; `password` and `test` have a password or an A/B test. `archived` needs no `showArchived`.',
    ),
  start: time.optional().describe('Only links created at or after this time.'),
  end: time.optional().describe('Only links created before this time.'),
})

/** The filters as query parameters. */
export const linkFilters = {
  ...selected(() => z.string()),
  tagId: z.string().optional().meta({ deprecated: true }),
  tagIds: listParameter('Only links with one of these tags.').optional(),
  tagNames: listParameter('Only links with a tag of one of these names.').optional(),
  showArchived: booleanDefault(false).describe('Whether to include archived links.'),
  withTags: booleanDefault(false).meta({ deprecated: true }),
}

const ids = (most: number) => z.array(z.string().max(255)).min(1).max(most)

/** The filters in the body of a bulk operation. */
export const bulkFilter = z
  .strictObject({
    ...selected((most) => z.string().max(most)),
    linkIds: ids(1_000).optional().describe('Only these links, up to 1,000.'),
    tagIds: ids(100).optional().describe('Only links with one of these tags.'),
    tagNames: ids(100).optional().describe('Only links with a tag of one of these names.'),
    showArchived: z.boolean().optional().describe('Whether to include archived links.'),
  })
  .meta({ id: 'BulkOperationFilter' })
export type BulkFilter = z.infer<typeof bulkFilter>
