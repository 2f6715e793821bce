import { randomBytes } from 'node:crypto'

export type Settings = Record<string, string>
export type RolePorts = { api: number; redirect: number; ops: number }

/** Returns the settings of a local installation. */
export function localSettings(urls: Settings, ports: RolePorts, spool: string): Settings {
  return {
    ...urls,
    ENVIRONMENT: 'development',
    LOG_LEVEL: 'warn',
    API_URL: `http://127.0.0.1:${ports.api}`,
    API_PORT: String(ports.api),
    REDIRECT_PORT: String(ports.redirect),
    OPS_PORT: String(ports.ops),
    SPOOL_DIRECTORY: spool,
    // Webhook receivers under development run on this machine.
    OUTBOUND_ALLOWED_HOSTS: 'localhost,127.0.0.0/8,::1',
    OUTBOUND_ALLOWED_PORTS: '1024-65535',
  }
}

export function newSecrets(): Settings {
  return {
    CLICK_ID_KEYS: `1:${randomBytes(32).toString('hex')}`,
    ENCRYPTION_KEYS: `1:${randomBytes(32).toString('hex')}`,
  }
}
