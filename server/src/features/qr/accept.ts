/** The QR image format for an `Accept` header: SVG only when the client prefers it to PNG, which browsers don't. */
export function preferredFormat(accept: string): 'png' | 'svg' {
  const wishes = accept.split(',').map(parseWish)
  return quality(wishes, 'svg+xml') > quality(wishes, 'png') ? 'svg' : 'png'
}

type Wish = { type: string; quality: number }

function parseWish(text: string): Wish {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = given === undefined ? 1 : Number(given.slice(2))
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** The quality value of an image type in the `Accept` header; the most specific entry counts. */
function quality(wishes: Wish[], subtype: string): number {
  const forms = [`image/${subtype}`, 'image/*', '*/*']
  return forms.map((form) => wishes.find(({ type }) => type === form)).find(Boolean)?.quality ?? 0
}
