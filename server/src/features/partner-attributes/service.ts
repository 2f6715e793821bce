import { chunks } from '../../platform/batches.ts'
import type { Platform } from '../../platform/context.ts'
import { isLockTimeout, savepoint, transaction } from '../../platform/postgres.ts'
import { type Attributes, partnerAttributes } from '../partners/service.ts'
import {
  deleteAttributeChanges,
  insertAttributeChanges,
  insertPartnerAttributes,
  lockAttributes,
  nextAttributesVersion,
  selectAttributeChanges,
  selectLaterPartners,
  selectPartnerAttributes,
} from './store.ts'

/* The present group and tags of each partner in ClickHouse, by which events are filtered and grouped. */

/** The ClickHouse table for other features to read; only this feature writes to it. */
export const partnerAttributesTable = 'partner_attributes'
type Engines = Pick<Platform, 'clickhouse' | 'db'>
export type PartnerAttributes = Pick<Attributes, 'workspaceId' | 'partnerId' | 'groupId' | 'tagIds'>

const changesAtOnce = 10_000
const laterAtOnce = 5_000
const namedAtOnce = 1_000

/**
 * Writes the present groups and tags of changed partners to ClickHouse. Returns the number of changes; 0 while another
 * process does it. One process at a time, so that a later version never has an earlier state.
 */
export function storeChangedPartners(platform: Engines): Promise<number> {
  return transaction(platform, async (platform) => {
    if (!(await lockAttributes(platform.db, false))) return 0
    const changes = await selectAttributeChanges(platform.db, { count: changesAtOnce })
    if (changes.length === 0) return 0
    // Partners are read after their changes, so that the attributes have at least these changes.
    const ids = [...new Set(changes.map(({ partner_id }) => partner_id))]
    const found = new Map((await partnerAttributes(platform, { ids })).map((partner) => [partner.partnerId, partner]))
    const rows = changes.map(({ workspace_id: workspaceId, partner_id: partnerId }): [string, PartnerAttributes] => [
      partnerId,
      found.get(partnerId) ?? { workspaceId, partnerId, groupId: '', tagIds: [] },
    ])
    await storePartners(platform, [...new Map(rows).values()])
    await deleteAttributeChanges(
      platform.db,
      changes.map(({ number }) => number),
    )
    return changes.length
  })
}

/** Writes attributes of partners to ClickHouse. Call it only while they are locked. */
export async function storePartners({ db, clickhouse }: Engines, partners: PartnerAttributes[]): Promise<void> {
  if (partners.length === 0) return
  const rows = partners.map(({ workspaceId, partnerId, groupId, tagIds }) => {
    return { workspace_id: workspaceId, partner_id: partnerId, group_id: groupId, tag_ids: tagIds }
  })
  await insertPartnerAttributes(clickhouse, rows, await nextAttributesVersion(db))
}

/** Locks the attributes in ClickHouse during `work`; `isLocked` is false when a running write does not end in time. */
export function betweenPartners<C extends Pick<Platform, 'db'>, R>(
  platform: C,
  work: (platform: C, isLocked: boolean) => Promise<R>,
): Promise<R> {
  return transaction(platform, async (platform) => {
    const isLocked = await savepoint(platform, ({ db }) => lockAttributes(db, true)).catch((error) => {
      if (isLockTimeout(error)) return false
      throw error
    })
    return work(platform, isLocked)
  })
}

/** The partners of these whose attributes in ClickHouse differ, without those that a worker will still write. */
export async function findStalePartners(
  { clickhouse, db }: Engines,
  partners: Attributes[],
): Promise<{ partner: Attributes; stored: Pick<Attributes, 'groupId' | 'tagIds'> | undefined }[]> {
  const stale = []
  for (const some of chunks(partners, namedAtOnce)) {
    const partnerIds = some.map(({ partnerId }) => partnerId)
    const workspaceIds = [...new Set(some.map(({ workspaceId }) => workspaceId))]
    const rows = await selectPartnerAttributes(clickhouse, { workspaceIds, partnerIds })
    const byId = new Map(rows.map((row) => [row.partner_id, { groupId: row.group_id, tagIds: row.tag_ids.toSorted() }]))
    const changed = some.flatMap((partner) => {
      const stored = byId.get(partner.partnerId)
      const { groupId, tagIds } = stored ?? { groupId: '', tagIds: [] }
      const isSame = groupId === partner.groupId && tagIds.join() === partner.tagIds.toSorted().join()
      return isSame ? [] : [{ partner, stored }]
    })
    const ids = changed.map(({ partner }) => partner.partnerId)
    const pending = ids.length === 0 ? [] : await selectAttributeChanges(db, { ids })
    const waiting = new Set(pending.map(({ partner_id }) => partner_id))
    stale.push(...changed.filter(({ partner }) => !waiting.has(partner.partnerId)))
  }
  return stale
}

/** Lets a worker write again the partners whose attributes have a version after `version`. */
export async function storeLaterPartners({ clickhouse, db }: Engines, version: bigint): Promise<void> {
  for (let after = ''; ; ) {
    const partners = await selectLaterPartners(clickhouse, { version, after, count: laterAtOnce })
    if (partners.length > 0) await insertAttributeChanges(db, partners)
    if (partners.length < laterAtOnce) return
    after = partners.at(-1)?.partner_id ?? after
  }
}
