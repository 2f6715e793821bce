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

type ServerLimits = {
  maxHeaderSize?: number
  /** Aborted when the process is about to stop. Each connection then ends after its response, so that clients open new ones. */
  stopping?: AbortSignal
}

/** Node's default header limit; each connection can use this much memory while its headers arrive. */
const headerBytes = 16_384

/** Creates the server, with HTTPS if a certificate is configured. Malformed HTTP gets an error in the API's format. */
export function webServer(
  config: Config,
  listener: RequestListener,
  { maxHeaderSize = headerBytes, stopping }: ServerLimits = {},
): Server {
  const server = createServer(config, { keepAliveTimeout: 65_000, requireHostHeader: false, maxHeaderSize })
  const answer: RequestListener = (request, response) => {
    if (stopping?.aborted) response.setHeader('Connection', 'close')
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

/** Starts listening. With `sharesPort`, other processes may use the port too; the kernel distributes connections. */
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

/** Throws if the port is in use; returns whether this system lets several processes share a port. */
export async function canSharePort(host: string, port: number): Promise<boolean> {
  // Tests the port exclusively: a shared port would also be shared with another installation.
  await (await listen(createPlainServer(), host, port))[Symbol.asyncDispose]()
  return listen(createPlainServer(), host, port, 0, true).then(
    async (listening) => {
      await listening[Symbol.asyncDispose]()
      return true
    },
    () => false,
  )
}

/** Stops accepting connections, lets running requests finish, then closes the remaining connections. */
function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    // Closes idle keep-alive connections, which would stay open after their last request.
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
    return invalid(`The URL and the headers together exceed the limit of ${maxHeaderSize} bytes.`)
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

/** Whether the Host header and the path are valid; HTTP/1.0 may omit the Host header. */
function hasProperAddress(request: IncomingMessage): boolean {
  if (request.httpVersion === '1.0') request.headers.host ??= 'localhost'
  const { url = '', headers } = request
  const host = headers.host ?? ''
  if (!/^(?:\/|https?:\/\/)[^\\]*$/.test(url)) return false
  if (plainHost.test(host)) return true
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return name !== '' && URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === name
}
