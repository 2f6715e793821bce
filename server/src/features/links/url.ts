/** Why a destination can't be taken, or undefined. */
export function urlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return 'must be an absolute URL such as https://example.com/page'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(url)) return 'must not contain control characters'
  const { protocol, username, password } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must start with http:// or https://'
  if (username || password) return 'must not contain a user name or password'
  return undefined
}
