import type { Config } from '../../../platform/config.ts'
import type { GeoLocation } from '../../../platform/geo.ts'
import type { ClickKeys } from '../../click-ids/service.ts'
import type { RawClick } from '../../redirect/messages.ts'

/** A click with all fields of its ClickHouse row. */
export type ClickEvent = {
  id: string
  at: number
  workspaceId: string
  linkNumber: string
  url: string
  trigger: RawClick['trigger']
  ip: string
  country: string
  region: string
  city: string
  continent: string
  device: string
  browser: string
  os: string
  referer: string
  refererUrl: string
  utmSource: string
  utmMedium: string
  utmCampaign: string
  utmTerm: string
  utmContent: string
  bot: string
}

export type ClickDraft = { raw: RawClick; event: ClickEvent }
export type DropReason = 'duplicate'
export type RejectReason = 'malformed' | 'forged_click_id' | 'refused'
/** What a step decides about a click; `cause` is the error message of the database that refused it. */
export type Outcome = { keep: ClickDraft } | { drop: DropReason } | { reject: RejectReason; cause?: string }

export type StepContext = {
  clickKeys: ClickKeys
  /** Whether an earlier click has the same id; looked up for the whole batch before the steps run. */
  isRepeat: (draft: ClickDraft) => boolean
  /** Looks up an IP address in the geo database. */
  locate: (ip: string) => GeoLocation | undefined
  isDataCentre: (ip: string) => boolean
  /** Whether the geo database has only countries: too imprecise to decide that a full IP address may be stored. */
  isGeoCountryOnly: boolean
  findIpStorage: (workspaceId: string) => Config['IP_STORAGE']
}

/** Fills fields of the draft in place: a copy per step would cost more than the steps themselves. */
export type Step = (draft: ClickDraft, context: StepContext) => Outcome

export const unknown = 'Unknown'
const direct = '(direct)'

/** The click that the first step gets: fields copied from the log are set, other fields are unknown. */
export function startDraft(raw: RawClick): ClickDraft {
  return {
    raw,
    event: {
      id: raw.id,
      at: raw.at,
      workspaceId: raw.workspaceId,
      linkNumber: raw.linkNumber,
      url: raw.url,
      trigger: raw.trigger,
      ip: raw.ip,
      country: unknown,
      region: unknown,
      city: unknown,
      continent: unknown,
      device: unknown,
      browser: unknown,
      os: unknown,
      referer: direct,
      refererUrl: direct,
      utmSource: '',
      utmMedium: '',
      utmCampaign: '',
      utmTerm: '',
      utmContent: '',
      bot: '',
    },
  }
}
