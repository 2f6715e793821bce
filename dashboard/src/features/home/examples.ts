export type ExampleValues = {
  /** Where the API and the script are. */
  origin: string
  /** Domain and slug of a short link. */
  domain: string
  slug: string
  /** First characters of a key of the workspace; undefined without any. */
  keyPrefix: string | undefined
}

/** The tag that every page of the site needs; with a publishable key, the page may send leads and sales itself. */
export function scriptTag({ origin }: Pick<ExampleValues, 'origin'>, publishableKey?: string): string {
  const key = publishableKey ? ` data-key="${publishableKey}"` : ''
  return `<script defer src="${origin}/tracker.js"${key}></script>`
}

export function linkCall(values: ExampleValues): string {
  const { domain, slug } = values
  return writeCall(values, '/links', {
    url: 'https://example.com/pricing',
    ...(domain && { domain }),
    key: slug,
    trackConversion: true,
  })
}

export function leadCall(values: ExampleValues): string {
  return writeCall(values, '/track/lead', {
    clickId: '<cookie trib_id>',
    eventName: 'Sign up',
    customerExternalId: '<your id of the customer>',
  })
}

export function saleCall(values: ExampleValues, currency: string): string {
  return writeCall(values, '/track/sale', {
    customerExternalId: '<your id of the customer>',
    amount: 4900,
    currency,
    invoiceId: '<your invoice>',
  })
}

/** A call by curl. It has the start of a key, so that the reader knows which one to insert, and never a whole one. */
function writeCall({ origin, keyPrefix }: ExampleValues, path: string, body: object): string {
  return [
    `curl ${origin}${path} \\`,
    `  -H 'Authorization: Bearer ${keyPrefix ?? 'trib_'}…' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body, undefined, 2)}'`,
  ].join('\n')
}
