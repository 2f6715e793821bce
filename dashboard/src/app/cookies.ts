/**
 * Cookies of the page itself. The server reads them when it writes the page, so that theme and language are right from
 * the first paint. They are copies: the preferences of a person live on the server.
 */
export function writeCookie(name: string, value: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in all browsers
  document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`
}

export function readCookie(name: string): string | undefined {
  const pair = document.cookie.split('; ').find((pair) => pair.startsWith(`${name}=`))
  return pair === undefined ? undefined : decodeURIComponent(pair.slice(name.length + 1))
}
