/**
 * Numbers of all PostgreSQL advisory locks: used alone, or as the seed of `hashtextextended` with the locked name.
 * Never change a number, because two releases may run at once during an upgrade.
 */
export const locks = {
  /** Exclusive while a process migrates; shared during a backup, so that no migration starts. */
  migrations: 7_240_810,
  /** Held by the process that relays the outbox to NATS. */
  outboxRelay: 7_240_811,
  /** Locked per workspace while a domain is added, changed or deleted. */
  domains: 7_240_812,
  /** Held by the process that rebuilds ClickHouse events from NATS. */
  rebuild: 7_240_813,
  /** Shared while leads and sales are exported to ClickHouse; exclusive to block exports. */
  conversions: 7_240_814,
  /** Held by the process that makes or restores a backup. */
  backups: 7_240_815,
  /** Shared while a worker records a new ingest batch; exclusive to block new batches. */
  ingestIntents: 7_240_816,
  /** Locked per workspace while link attributes are corrected in ClickHouse. */
  linkAttributes: 7_240_817,
  /** Locked per workspace and invoice while a sale is recorded. */
  invoices: 7_240_818,
  /** Locked per workspace while a webhook is added, changed or deleted. */
  webhooks: 7_240_819,
  /** Locked per workspace and resource type while a quota is checked. */
  quotas: 7_240_820,
  /** Locked per workspace and destination or name while a link is created or updated. */
  linkNames: 7_240_821,
  /** Shared per workspace while links change; exclusive while a tag is deleted. Migration 0041 has this number too. */
  linkTags: 7_240_822,
  /** Held by the process that adds changes to the link totals, or repairs them. */
  linkTotals: 7_240_823,
  /** Held by the process that writes the groups and tags of partners to ClickHouse, or compares them. */
  partnerAttributes: 7_240_824,
  /** Locked per workspace while a bulk operation or its undo starts. */
  bulkOperations: 7_240_825,
  /** Locked per workspace while its events are decided in order, because partners share a cap. */
  sharedCaps: 7_240_826,
  /** Held while a transaction creates the first user. */
  firstUser: 7_240_839,
  /** Held by the process that seals audit entries. */
  auditSealing: 7_240_840,
} as const
