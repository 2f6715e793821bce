/**
 * Numbers of all PostgreSQL advisory locks: used alone, or as the seed of `hashtextextended` with the locked name. Two
 * releases may run at once during an upgrade, so a lock keeps its number.
 */
export const locks = {
  /** Held by the process that migrates; shared by a backup, during which no migration may start. */
  migrations: 7_240_810,
  /** Held by the process that relays the outbox to NATS. */
  outboxRelay: 7_240_811,
  /** Per workspace: adding, changing or deleting a domain. */
  domains: 7_240_812,
  /** Held by the process that rebuilds events from the log. */
  rebuild: 7_240_813,
  /** Shared while leads and sales are exported to ClickHouse; exclusive while no export may run. */
  conversions: 7_240_814,
  /** Held by the process that makes or restores a backup. */
  backups: 7_240_815,
  /** Shared while a worker begins an ingest batch; exclusive while no batch may begin. */
  ingestIntents: 7_240_816,
  /** Per workspace: correcting the attributes of links in ClickHouse. */
  linkAttributes: 7_240_817,
  /** Per workspace and invoice: recording a sale. */
  invoices: 7_240_818,
  /** Per workspace: adding, changing or deleting a webhook. */
  webhooks: 7_240_819,
  /** Per workspace and noun: deciding whether a quota has room. */
  quotas: 7_240_820,
  /** Per workspace and destination or name: creating or updating a link. */
  linkNames: 7_240_821,
} as const
