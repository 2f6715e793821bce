import { readFile } from 'node:fs/promises'
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { freePort } from '../../engines/port.ts'
import { findOnPath } from '../../engines/programs.ts'
import { type Answer, readAnswer } from '../../server/test/visit.ts'
import { startProgram, temporaryFolder } from './program.ts'

export type Asked = { path?: string; method?: string; headers?: Record<string, string>; body?: string; from?: string }
export type Caddy = AsyncDisposable & {
  pid: number
  httpPort: number
  httpsPort: number
  /** The certificate of this Caddy's authority. */
  authority: Buffer
  /** Sends an HTTPS request to a host; its certificate must be issued by this Caddy's authority for that host. */
  ask(host: string, asked?: Asked): Promise<Answer>
  output(): string
}

/** Runs the Caddyfile in Debian's caddy, with a local certificate authority and private ports. */
export async function startCaddy(env: Record<string, string>): Promise<Caddy> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.use(await temporaryFolder())
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const program = parts.use(
    await startProgram({
      command: await requireCaddy(),
      args: ['run', '--config', join(import.meta.dirname, '../caddy/Caddyfile')],
      env: {
        XDG_DATA_HOME: folder.path,
        XDG_CONFIG_HOME: folder.path,
        CADDY_HTTP_PORT: String(httpPort),
        CADDY_HTTPS_PORT: String(httpsPort),
        CADDY_ADMIN: 'off',
        CADDY_TLS: 'internal',
        ...env,
      },
      answers: () => fetch(`http://127.0.0.1:${httpPort}/`, { redirect: 'manual' }),
    }),
  )
  const authority = await readFile(join(folder.path, 'caddy/pki/authorities/local/root.crt'))
  const opened = parts.move()
  return {
    pid: program.pid,
    httpPort,
    httpsPort,
    authority,
    output: program.output,
    ask: (host, asked) => ask({ host: '127.0.0.1', port: httpsPort, servername: host, ca: authority }, host, asked),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

async function requireCaddy(): Promise<string> {
  const [caddy] = await findOnPath('caddy')
  if (!caddy) throw new Error('caddy is not on PATH; run `npm run setup -- --deploy`')
  return caddy
}

function ask(target: RequestOptions, host: string, { path = '/', method, headers, body, from }: Asked = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const options = { ...target, path, method, localAddress: from, agent: false, headers: { host, ...headers } }
    request(options, (response) => resolve(readAnswer(response)))
      .on('error', reject)
      .end(body)
  })
}
