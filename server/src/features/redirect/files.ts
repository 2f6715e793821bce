import type { RedirectDomain } from '../domains/service.ts'

/** A well-known file of a domain; it does not exist when `text` is null. */
export type File = { type: string; text: string | null }

const robots: File = { type: 'text/plain; charset=utf-8', text: 'User-agent: *\nDisallow:\n' }
const noIcon: File = { type: 'image/x-icon', text: null }

/** A file that browsers, phones and search engines request from every host, such as robots.txt; never a link's key. */
export function fileAt(path: string | null, domain: RedirectDomain | null): File | undefined {
  switch (path) {
    case 'robots.txt':
      return robots
    case 'favicon.ico':
      return noIcon
    case '.well-known/apple-app-site-association':
    case 'apple-app-site-association':
      return { type: 'application/json', text: domain?.appleAppSiteAssociation ?? null }
    case '.well-known/assetlinks.json':
      return { type: 'application/json', text: domain?.assetLinks ?? null }
    default:
      return undefined
  }
}
