/** A person with a browser: cookies, forms and the headers that browsers send with them. */
export type Person = {
  cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Seen>
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Seen>
}
export type Seen = { status: number; text: string; location: string | null; setCookies: string[]; headers: Headers }

export function openPerson(api: string, cookie?: string): Person {
  const cookies = new Map<string, string>()
  if (cookie) cookies.set(...splitCookie(cookie))

  async function send(path: string, init: RequestInit & { headers?: Record<string, string> }): Promise<Seen> {
    const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(sent && { cookie: sent }), ...init.headers }
    const response = await fetch(new URL(path, api), { ...init, headers, redirect: 'manual' })
    const setCookies = response.headers.getSetCookie()
    for (const header of setCookies) {
      const [name, value] = splitCookie(header)
      if (/; Max-Age=0/i.test(header)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const { status } = response
    return {
      status,
      text: await response.text(),
      location: response.headers.get('location'),
      setCookies,
      headers: response.headers,
    }
  }

  return {
    cookies,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, fields, headers = {}) =>
      send(path, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { origin: new URL(api).origin, 'sec-fetch-site': 'same-origin', ...headers },
      }),
  }
}

function splitCookie(header: string): [string, string] {
  const [pair = ''] = header.split(';')
  const at = pair.indexOf('=')
  return [pair.slice(0, at), pair.slice(at + 1)]
}
