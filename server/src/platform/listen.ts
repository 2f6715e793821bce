import { readFileSync } from 'node:fs'
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Config } from './config.ts'

export type Listening = AsyncDisposable & { port: number }

/** Speaks HTTPS when a certificate is configured. */
export function webServer(config: Config, listener: RequestListener): Server {
  const options = { keepAliveTimeout: 65_000 }
  if (!config.TLS_CERT || !config.TLS_KEY) return createPlainServer(options, listener)
  return createTlsServer(
    { ...options, cert: readFileSync(config.TLS_CERT), key: readFileSync(config.TLS_KEY) },
    listener,
  )
}

export function listen(server: Server, host: string, port: number, graceMs = 2_000): Promise<Listening> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new Error(`Port ${port} on ${host} is taken. Set another one.`) : error)
    })
    server.listen(port, host, () => {
      const address = server.address()
      resolve({
        port: typeof address === 'object' && address ? address.port : port,
        [Symbol.asyncDispose]: () => close(server, graceMs),
      })
    })
  })
}

/** Takes no new connection, lets requests under way end, then cuts what is left. */
function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
    server.closeIdleConnections()
  })
}
