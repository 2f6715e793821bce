import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

export type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Sends a visitor's request; unlike `fetch`, it may set any Host header. */
export function visit(url: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers, method }, (response) => resolve(readAnswer(response)))
      .on('error', reject)
      .end()
  })
}

export async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = await Array.fromAsync(response)
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }
}
