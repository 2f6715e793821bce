import { defineCommand } from 'citty'
import { systemClock } from '../platform/clock.ts'
import { type Config, ConfigError, readConfig } from '../platform/config.ts'
import { downloadGeo, openGeo } from '../platform/geo.ts'
import { openLog } from '../platform/log.ts'
import { jsonFlag, print, reportProblems } from './run.ts'

const update = defineCommand({
  meta: { name: 'update', description: 'Download the newest geo database; running processes reload it' },
  args: jsonFlag,
  run: ({ args }) =>
    reportProblems(async () => {
      const config = readConfig()
      const file = databaseFile(config)
      const url = await downloadGeo(config.GEO_DATABASE_URL, file, systemClock())
      print(args.json, { file, url }, `Updated ${file} from ${url}.`)
    }),
})

const lookup = defineCommand({
  meta: {
    name: 'lookup',
    description: 'Show the location of an IP address; exit code 1 when it is unknown',
  },
  args: { ip: { type: 'positional', description: 'IPv4 or IPv6 address', required: true }, ...jsonFlag },
  run: ({ args }) =>
    reportProblems(async () => {
      const config = readConfig()
      using geo = openGeo(config, openLog('silent'))
      const location = geo.lookup(args.ip)
      const { country = '', region = '', city = '', continent = '' } = location ?? {}
      const text = [city, region || country, continent].filter(Boolean).join(', ')
      const source = config.GEO_DATABASE ?? 'the built-in countries'
      print(
        args.json,
        location ? { ...location, source: geo.source } : null,
        `${args.ip}: ${text ? `${text} (${source})` : `not in ${source}`}`,
      )
      if (!location) process.exitCode = 1
    }),
})

export const geo = defineCommand({
  meta: { name: 'geo', description: 'Update and query the geo database' },
  subCommands: { update, lookup },
})

function databaseFile({ GEO_DATABASE }: Config): string {
  if (GEO_DATABASE) return GEO_DATABASE
  throw new ConfigError('GEO_DATABASE is not set. Set it to the path of the geo database, then run this again.')
}
