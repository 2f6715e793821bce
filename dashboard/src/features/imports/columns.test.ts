import { expect, test } from 'vitest'
import { recognizeColumns } from './columns.ts'

test.each([
  ['Bitly', ['Link', 'Title', 'Long URL', 'Created', 'Tags', 'Clicks'], { url: 2, shortUrl: 0, title: 1, tags: 4 }],
  [
    'Bitly, by its API',
    ['bitlink_id', 'long_url', 'title', 'archived', 'created_at', 'tags'],
    { url: 1, shortUrl: 0, title: 2, archived: 3, tags: 5 },
  ],
  [
    'Rebrandly',
    ['Title', 'Destination URL', 'Short URL', 'Slashtag', 'Domain', 'Tags', 'Notes', 'Clicks'],
    { title: 0, url: 1, shortUrl: 2, key: 3, domain: 4, tags: 5, comments: 6 },
  ],
  [
    'Short.io',
    ['id', 'originalURL', 'path', 'shortURL', 'title', 'tags', 'createdAt', 'expiresAt', 'expiredURL', 'iphoneURL'],
    { url: 1, shortUrl: 3, key: 2, title: 4, tags: 5, expiresAt: 7, expiredUrl: 8, ios: 9 },
  ],
  [
    'our own',
    ['domain', 'key', 'url', 'utm_source', 'externalId'],
    { domain: 0, key: 1, url: 2, utm_source: 3, externalId: 4 },
  ],
  ['none', ['foo', 'bar'], {}],
])('headings of %s are recognized', (_, head, columns) => {
  expect(recognizeColumns(head)).toEqual(columns)
})
