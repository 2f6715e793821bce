import { isIP } from 'node:net'
import type { NewClick } from '../event-storage/service.ts'
import type { ClickEvent } from './steps/step.ts'

/** Builds a click's row. Replaces values that ClickHouse can't parse, because one would block the whole partition. */
export function clickRow(event: ClickEvent): NewClick {
  return {
    workspace_id: event.workspaceId.toWellFormed(),
    timestamp: event.at,
    id_text: event.id,
    link_number: event.linkNumber,
    url: event.url.toWellFormed(),
    trigger: event.trigger,
    ip: storedAddress(event.ip),
    country: event.country.toWellFormed(),
    region: event.region.toWellFormed(),
    city: event.city.toWellFormed(),
    continent: event.continent.toWellFormed(),
    device: event.device.toWellFormed(),
    browser: event.browser.toWellFormed(),
    os: event.os.toWellFormed(),
    referer: event.referer.toWellFormed(),
    referer_url: event.refererUrl.toWellFormed(),
    utm_source: event.utmSource.toWellFormed(),
    utm_medium: event.utmMedium.toWellFormed(),
    utm_campaign: event.utmCampaign.toWellFormed(),
    utm_term: event.utmTerm.toWellFormed(),
    utm_content: event.utmContent.toWellFormed(),
    bot: event.bot.toWellFormed(),
  }
}

function storedAddress(ip: string): string {
  const withoutZone = ip.includes('%') ? ip.replace(/%.*$/s, '') : ip
  return isIP(withoutZone) ? withoutZone : '::'
}
