import type { Ctx } from '../../platform/context.ts'
import type { Db } from '../../platform/postgres.ts'
import { type CapKey, capKey } from './cap.ts'
import { type Decision, decide, earningStatuses as earning, governingVersion } from './decide.ts'
import { earningsAfterRefund } from './refund.ts'
import { archiveRewardsOfGroup, selectSharedCap } from './store.ts'
import type * as terms from './terms.ts'
import { chooseAt, laterVersions, type Timeline, type Timelines } from './timeline.ts'
import { loadBound, loadRewardIds, loadTimelines } from './versions.ts'

export type RewardEvent = terms.RewardEvent
export type RewardHistory = terms.History
export type RewardBinding = terms.Binding
export type RewardChoice = terms.Choice
export type RewardVersion = terms.RewardVersion
export type RewardDecision = Decision
export type RewardTimeline = Timeline
export type RewardTimelines = Timelines

/** Statuses of partners whose leads and sales earn. */
export const earningStatuses = earning

/** What an event earns, or why nothing. Computes only: the caller reads the history and stores the decision. */
export function decideReward(event: RewardEvent, history: RewardHistory, choice: RewardChoice): RewardDecision {
  return decide(event, history, choice)
}

/** The version that `decideReward` will apply, and where its cap is counted. */
export function findVersion(
  event: RewardEvent,
  binding: RewardBinding | null,
  choice: RewardChoice,
  who: Parameters<typeof capKey>[2],
): { version: RewardVersion; cap: CapKey | null } | null {
  const version = governingVersion(event, binding, choice)
  return version && { version, cap: capKey(version, event, who) }
}

/** What a sale earns when only `amountLeft` of its amount is left; also for an amount that was corrected upwards. */
export function rewardAfterRefund(why: RewardDecision['why'], amountLeft: bigint): bigint {
  return earningsAfterRefund(why, amountLeft)
}

/** The ids of the rewards for new customers of each partner, by partner number and event. */
export function currentRewards(db: Db, workspaceId: string, partners: { number: bigint; groupNumber: bigint }[]) {
  return loadRewardIds(db, workspaceId, partners)
}

/** The versions that were current during a period, of each partner, by partner number and event. */
export function versionsDuring(
  db: Db,
  workspaceId: string,
  partners: { number: bigint; groupNumber: bigint }[],
  period: { first: Date; last: Date },
): Promise<Map<bigint, RewardTimelines>> {
  return loadTimelines(db, workspaceId, partners, period)
}

/** The versions that were current at a time. */
export function choiceAt(timeline: RewardTimeline | undefined, at: Date): RewardChoice {
  return timeline ? chooseAt(timeline, at) : { partner: null, group: null }
}

/** What a first sale binds its customer to: the version, and the later ones of its reward that apply to all. */
export function bindVersion(timeline: RewardTimeline | undefined, version: RewardVersion) {
  return { version, later: timeline ? laterVersions(timeline, version) : [] }
}

/** The versions that customers are bound to, by number, each with the later ones that apply to all. */
export function boundVersions(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
): Promise<Map<bigint, Pick<RewardBinding, 'version' | 'later'>>> {
  return loadBound(db, workspaceId, numbers)
}

/** Whether earnings of one partner can leave less for another: then their order decides who earns. */
export function hasSharedCap(db: Db, workspaceId: string): Promise<boolean> {
  return selectSharedCap(db, workspaceId)
}

/** Archives the rewards of a deleted group. */
export function archiveGroupRewards(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  groupNumber: bigint,
): Promise<void> {
  return archiveRewardsOfGroup(db, workspaceId, groupNumber)
}
