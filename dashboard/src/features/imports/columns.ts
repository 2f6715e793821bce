/** What a column of the file becomes in a link. */
export const targets = [
  'url',
  'shortUrl',
  'domain',
  'key',
  'title',
  'description',
  'comments',
  'tags',
  'folder',
  'expiresAt',
  'expiredUrl',
  'password',
  'ios',
  'android',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'externalId',
  'archived',
] as const
export type Target = (typeof targets)[number]

/** Headings of our own export and of those by Bitly, Rebrandly and Short.io, without signs and in lower case. */
const headings: Record<Target, string> = {
  url: 'url longurl destinationurl destination originalurl original longlink target targeturl',
  shortUrl: 'shorturl shortlink bitlink link secureshorturl shortenedurl bitlinkid id',
  domain: 'domain domainfullname domainname hostname host',
  key: 'key slug slashtag path backhalf alias custombackhalf keyword',
  title: 'title name linktitle',
  description: 'description',
  comments: 'comments comment note notes',
  tags: 'tags tag labels',
  folder: 'folder foldername',
  expiresAt: 'expiresat expiry expirationdate expires ttl',
  expiredUrl: 'expiredurl expirationurl',
  password: 'password',
  ios: 'ios iphoneurl iosurl',
  android: 'android androidurl',
  utm_source: 'utmsource',
  utm_medium: 'utmmedium',
  utm_campaign: 'utmcampaign',
  utm_term: 'utmterm',
  utm_content: 'utmcontent',
  externalId: 'externalid',
  archived: 'archived',
}

/** Which column each target comes from, by the headings; a target that no column has is absent. */
export function recognizeColumns(head: readonly string[]): Partial<Record<Target, number>> {
  const plain = head.map((heading) => heading.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
  const found: Partial<Record<Target, number>> = {}
  for (const target of targets) {
    for (const name of headings[target].split(' ')) {
      const index = plain.findIndex((heading, at) => heading === name && !Object.values(found).includes(at))
      if (index === -1) continue
      found[target] = index
      break
    }
  }
  return found
}
