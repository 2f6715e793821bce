import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { CardName, Dimension } from './dimensions.ts'
import type { FilterName } from './event-search.ts'
import type { Measure } from './measures.ts'
import type { PeriodName } from './periods.ts'

export const measureNames: Record<Measure, MessageDescriptor> = {
  clicks: msg`Clicks`,
  leads: msg`Leads`,
  sales: msg`Sales`,
  saleAmount: msg`Revenue`,
}

export const periodTexts: Record<PeriodName, MessageDescriptor> = {
  today: msg`Today`,
  yesterday: msg`Yesterday`,
  '24h': msg`Last 24 hours`,
  '7d': msg`Last 7 days`,
  '30d': msg`Last 30 days`,
  '90d': msg`Last 90 days`,
  '1y': msg`Last 365 days`,
  wtd: msg`This week`,
  mtd: msg`This month`,
  qtd: msg`This quarter`,
  ytd: msg`This year`,
  all: msg`All time`,
}

export const cardTexts: Record<CardName, MessageDescriptor> = {
  links: msg`Links`,
  sources: msg`Sources`,
  campaigns: msg`Campaigns`,
  locations: msg`Places`,
  devices: msg`Devices`,
  destinations: msg`Destinations`,
  partners: msg`Partners`,
}

/** Names of dimensions, as the tabs of their card have them. */
export const dimensionTexts: Record<Dimension, MessageDescriptor> = {
  top_links: msg`Links`,
  top_folders: msg`Folders`,
  top_link_tags: msg`Tags`,
  top_domains: msg`Domains`,
  top_urls: msg`Destinations`,
  top_base_urls: msg`Without parameters`,
  referers: msg`Sources`,
  referer_urls: msg`Pages`,
  utm_campaigns: msg`Campaigns`,
  utm_sources: msg`Source`,
  utm_mediums: msg`Medium`,
  utm_terms: msg`Term`,
  utm_contents: msg`Content`,
  countries: msg`Countries`,
  regions: msg`Regions`,
  cities: msg`Cities`,
  continents: msg`Continents`,
  devices: msg`Devices`,
  browsers: msg`Browsers`,
  os: msg`Systems`,
  triggers: msg`Triggers`,
  top_partners: msg`Partners`,
  top_groups: msg`Groups`,
  top_partner_tags: msg`Tags of partners`,
}

export const filterTexts: Record<FilterName, MessageDescriptor> = {
  linkId: msg`Link`,
  folderId: msg`Folder`,
  tagId: msg`Tag`,
  domain: msg`Domain`,
  url: msg`Destination`,
  referer: msg`Source`,
  refererUrl: msg`Source page`,
  utm_source: msg`UTM source`,
  utm_medium: msg`UTM medium`,
  utm_campaign: msg`UTM campaign`,
  utm_term: msg`UTM term`,
  utm_content: msg`UTM content`,
  continent: msg`Continent`,
  country: msg`Country`,
  region: msg`Region`,
  city: msg`City`,
  device: msg`Device`,
  browser: msg`Browser`,
  os: msg`System`,
  trigger: msg`Trigger`,
  partnerId: msg`Partner`,
  groupId: msg`Group`,
  partnerTagId: msg`Tag of the partner`,
}

export const continentTexts: Record<string, MessageDescriptor> = {
  AF: msg`Africa`,
  AN: msg`Antarctica`,
  AS: msg`Asia`,
  EU: msg`Europe`,
  NA: msg`North America`,
  OC: msg`Oceania`,
  SA: msg`South America`,
}

export const triggerTexts: Record<string, MessageDescriptor> = {
  link: msg`Link`,
  qr: msg`QR code`,
  pageview: msg`Page view`,
  deeplink: msg`Deep link`,
}
