import { inject } from 'vitest'

// biome-ignore lint/suspicious/noExplicitAny: tests read the fields of many shapes
export type Answer = { status: number; body: any; headers: Headers }
export type Caller = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

/** Returns a function that calls the API as a signed-in user does from our own pages. */
export function callAs(user: { cookie: string }, workspace?: string): Caller {
  return send({
    cookie: user.cookie,
    'sec-fetch-site': 'same-origin',
    ...(workspace && { 'tributary-workspace': workspace }),
  })
}

export function callWithKey(key: string): Caller {
  return send({ authorization: `Bearer ${key}` })
}

function send(credentials: Record<string, string>): Caller {
  const { api } = inject('server')
  return async (method, path, body, headers = {}) => {
    const response = await fetch(api + path, {
      method,
      headers: { ...credentials, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers }
  }
}
