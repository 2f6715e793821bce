import { readFileSync } from 'node:fs'
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  STATUS_CODES,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { type Config, ConfigError } from './config.ts'
import { type AppError, badRequest, errorEnvelope, invalid } from './errors.ts'

export type Listening = AsyncDisposable & { port: number }

/** Node's default. Each connection can use this much while its headers arrive. */
const headerBytes = 16_384

/** Serves HTTPS when a certificate is configured. Malformed HTTP is refused here, with the error envelope. */
export function webServer(config: Config, listener: RequestListener, maxHeaderSize = headerBytes): Server {
  const server = createServer(config, { keepAliveTimeout: 65_000, requireHostHeader: false, maxHeaderSize })
  const answer: RequestListener = (request, response) => {
    if (hasProperAddress(request)) return listener(request, response)
    const { headers, text } = refusal(config, badRequest('The Host header or the path is missing or invalid.'))
    response.writeHead(400, headers).end(text)
  }
  server.on('request', answer)
  server.on('checkExpectation', answer)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    const problem = explain(error.code, maxHeaderSize)
    const { headers, text } = refusal(config, problem)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const reason = STATUS_CODES[problem.status]
    socket.end(`HTTP/1.1 ${problem.status} ${reason}\r\n${lines.join('')}\r\n${text}`)
  })
  return server
}

/** With `sharesPort`, other processes may listen on the port too; the system distributes the connections. */
export function listen(
  server: Server,
  host: string,
  port: number,
  graceMs = 2_000,
  sharesPort = false,
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = new ConfigError(`Port ${port} on ${host} is in use. Set another port.`)
      reject(error.code === 'EADDRINUSE' ? taken : error)
    })
    server.listen({ port, host, reusePort: sharesPort }, () => {
      const address = server.address()
      resolve({
        port: typeof address === 'object' && address ? address.port : port,
        [Symbol.asyncDispose]: () => close(server, graceMs),
      })
    })
  })
}

/** Refuses a port that is in use; returns whether this system lets several processes share a port. */
export async function canSharePort(host: string, port: number): Promise<boolean> {
  // Processes that share a port would also share it with another installation.
  await (await listen(createPlainServer(), host, port))[Symbol.asyncDispose]()
  return listen(createPlainServer(), host, port, 0, true).then(
    async (listening) => {
      await listening[Symbol.asyncDispose]()
      return true
    },
    () => false,
  )
}

/** Accepts no new connections, lets running requests finish, then closes the rest. */
function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    // Keep-alive would hold a connection open after its last request.
    const idle = setInterval(() => server.closeIdleConnections(), 50)
    server.close(() => {
      clearTimeout(timer)
      clearInterval(idle)
      resolve()
    })
    server.closeIdleConnections()
  })
}

function explain(code: string | undefined, maxHeaderSize: number): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return invalid(`The address and the headers together exceed the limit of ${maxHeaderSize} bytes.`)
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return badRequest('The request did not arrive in time.')
  return badRequest('This is not valid HTTP.')
}

function createServer(config: Config, options: ServerOptions): Server {
  if (!config.TLS_CERT || !config.TLS_KEY) return createPlainServer(options)
  try {
    return createTlsServer({ ...options, cert: readFileSync(config.TLS_CERT), key: readFileSync(config.TLS_KEY) })
  } catch (error) {
    throw new ConfigError(`TLS_CERT and TLS_KEY can't be used: ${(error as Error).message}.`)
  }
}

function refusal(config: Config, problem: AppError) {
  const text = JSON.stringify(errorEnvelope(problem, config.API_URL))
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), Connection: 'close' }
  return { headers, text }
}

const plainHost = /^(?:[a-z][a-z0-9-]*\.)*[a-z][a-z0-9-]*(?::\d+)?$/i

/** HTTP/1.0 may leave the host out. */
function hasProperAddress(request: IncomingMessage): boolean {
  if (request.httpVersion === '1.0') request.headers.host ??= 'localhost'
  const { url = '', headers } = request
  const host = headers.host ?? ''
  if (!/^(?:\/|https?:\/\/)[^\\]*$/.test(url)) return false
  if (plainHost.test(host)) return true
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return name !== '' && URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === name
}
