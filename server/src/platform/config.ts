import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { z } from 'zod'
import { type Setting, settings } from './settings.ts'

type Settings = typeof settings
export type Config = { [Name in keyof Settings]: z.output<Settings[Name]['type']> }

export class ConfigError extends Error {}

/** Whether the process runs only the redirect role, which works without ClickHouse and starts without NATS. */
export function servesVisitorsOnly({ ROLES }: Pick<Config, 'ROLES'>): boolean {
  return ROLES.every((role) => role === 'redirect')
}

/** How many redirect processes share `REDIRECT_PORT`. Beside other roles, they leave half of the cores to those. */
export function countVisitorProcesses(
  config: Pick<Config, 'ROLES' | 'REDIRECT_PROCESSES'>,
  cores = availableParallelism(),
): number {
  return config.REDIRECT_PROCESSES ?? Math.max(1, servesVisitorsOnly(config) ? cores : Math.floor(cores / 2))
}

/** Parses all settings; throws one error that lists every invalid setting. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  return readSome(Object.keys(settings) as (keyof Settings)[], environment)
}

/** Parses only the named settings, for commands that don't use the others. */
export function readSome<Name extends keyof Settings>(
  names: Name[],
  environment: Record<string, string | undefined> = process.env,
): Pick<Config, Name> {
  const problems: string[] = []
  const entries = names.map((name) => {
    const setting: Setting = settings[name]
    const value = environment[name]?.trim() || setting.default
    if (value === undefined) {
      problems.push(`${name} is not set. ${setting.description}`)
      return [name, undefined]
    }
    const parsed = setting.type.safeParse(value)
    if (!parsed.success) {
      const shown = setting.secret ? '' : ` is ${JSON.stringify(mask(value, setting))}`
      problems.push(
        `${name}${shown}: ${parsed.error.issues.map((issue) => issue.message).join('; ')}. ${setting.description}`,
      )
    }
    return [name, parsed.data]
  })
  if (Boolean(environment.TLS_CERT) !== Boolean(environment.TLS_KEY)) {
    problems.push('TLS_CERT and TLS_KEY go together: set both or neither.')
  }
  if (problems.length > 0) throw new ConfigError(`The configuration is not usable:\n- ${problems.join('\n- ')}`)
  return Object.fromEntries(entries) as Pick<Config, Name>
}

/** Returns the environment variables for a child process. */
export function environmentWith(
  changes: Record<string, string>,
  environment: Record<string, string | undefined> = process.env,
): Record<string, string | undefined> {
  return { ...environment, ...changes }
}

/** Returns all settings for the process log, with secrets and passwords masked. */
export function configSummary(environment: Record<string, string | undefined> = process.env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings as Record<string, Setting>).map(([name, setting]) => [
      name,
      mask(environment[name] || setting.default || '', setting),
    ]),
  )
}

/** Formats settings as .env lines, with secrets and passwords masked unless `withSecrets`. */
export function configLines(
  withSecrets: boolean,
  environment: Record<string, string | undefined> = process.env,
): string[] {
  return Object.entries(settings as Record<string, Setting>).flatMap(([name, setting]) => {
    const value = environment[name]?.trim()
    return value ? [`${name}=${withSecrets ? value : mask(value, setting)}`] : []
  })
}

/** Returns a fingerprint per setting and key id, which identifies a key without revealing it. */
export function keyPrints(
  environment: Record<string, string | undefined> = process.env,
): Record<string, Record<string, string>> {
  const formatSetting = (key: string) =>
    createHash('sha256').update(`tributary ${key.toLowerCase()}`).digest('hex').slice(0, 16)
  return Object.fromEntries(
    ['CLICK_ID_KEYS', 'ENCRYPTION_KEYS'].map((name) => {
      const keys = (environment[name] ?? '').split(',').map((entry) => entry.trim().split(':'))
      return [name, Object.fromEntries(keys.map(([id = '', key = '']) => [id, formatSetting(`${name} ${key}`)]))]
    }),
  )
}

function mask(value: string, setting: Setting): string {
  if (setting.secret) return value && '***'
  return setting.url
    ? value
        .split(/,(?=\s*\w+:\/\/)/)
        .map(maskAddress)
        .join(',')
    : value
}

/** Masks the whole user part: a user name without a password may be a token, and a malformed URL may have one before @. */
function maskAddress(address: string): string {
  return address.replace(/^(\s*\w+:\/\/(?:[^:@/]*:)?|)(.*)(?=@)/, '$1***').replace(/(?<=[?&]password=)[^&]*/gi, '***')
}
