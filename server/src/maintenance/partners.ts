import { betweenPartners, findStalePartners, storePartners } from '../features/partner-attributes/service.ts'
import { type Attributes, partnerAttributes } from '../features/partners/service.ts'
import { compare, type Handles } from './compare.ts'

type Options = { workspaceId?: string; repair?: boolean; partnersAtOnce?: number }
type Known = Pick<Attributes, 'groupId' | 'tagIds'>

/** A partner whose group or tags in ClickHouse differ from PostgreSQL; `stored` is null when ClickHouse lacks it. */
export type PartnerFinding = {
  partnerId: string
  workspaceId: string
  stored: Known | null
  recorded: Known
  repaired: boolean
}

/** Compares the groups and tags by which ClickHouse finds the events of partners, some thousand partners at a time. */
export async function* reconcilePartners(platform: Handles, options: Options) {
  const { workspaceId, partnersAtOnce: count = 10_000, repair = false } = options
  const read = async (platform: Handles, after: bigint, suspects?: PartnerFinding[]) => {
    const ids = suspects?.map(({ partnerId }) => partnerId)
    const partners = await partnerAttributes(platform, ids ? { ids } : { workspaceId, after, count })
    const findings = (await findStalePartners(platform, partners)).map(({ partner, stored }): PartnerFinding => {
      const { partnerId, workspaceId, groupId, tagIds } = partner
      return { partnerId, workspaceId, stored: stored ?? null, recorded: { groupId, tagIds }, repaired: false }
    })
    return { findings, percent: 100, next: partners.length < count ? undefined : partners.at(-1)?.number }
  }
  yield* compare(
    platform,
    {
      first: -1n,
      read,
      findBucket: ({ partnerId }) => partnerId,
      pause: (platform, _, work) => betweenPartners(platform, work),
      repair: rewrite,
    },
    repair,
  )
}

async function rewrite(platform: Handles, findings: PartnerFinding[]): Promise<PartnerFinding[]> {
  await storePartners(
    platform,
    findings.map(({ partnerId, workspaceId, recorded }) => ({ partnerId, workspaceId, ...recorded })),
  )
  return findings.map((finding) => ({ ...finding, repaired: true }))
}
