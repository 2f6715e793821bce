import type { RewardEventName } from '@tributary/contract/reward-terms'
import type { Choice, RewardVersion } from './terms.ts'

/** A version of a reward, from its creation until a newer one replaced it or the reward was deleted. */
export type Span = { version: RewardVersion; until: Date | null }
/** The versions of a partner's own reward and of its group's reward for an event, each current at its time. */
export type Timeline = { partner: Span[]; group: Span[] }
export type Timelines = Record<RewardEventName, Timeline>

/** The versions that were current at a time: an event has the terms of its own time, whenever it is decided. */
export function chooseAt({ partner, group }: Timeline, at: Date): Choice {
  const find = (spans: Span[]) =>
    spans.find(({ version, until }) => version.createdAt <= at && (until === null || at < until))?.version ?? null
  return { partner: find(partner), group: find(group) }
}

/** The later versions of the same reward that apply to all, oldest first. */
export function laterVersions({ partner, group }: Timeline, bound: RewardVersion): RewardVersion[] {
  return [...partner, ...group]
    .map(({ version }) => version)
    .filter((each) => each.rewardNumber === bound.rewardNumber && each.version > bound.version && each.appliesToAll)
    .sort((one, other) => one.version - other.version)
}
