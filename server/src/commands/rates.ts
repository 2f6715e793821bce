import { defineCommand } from 'citty'
import { downloadExchangeRates } from '../features/money/service.ts'
import { type Config, ConfigError, readConfig } from '../platform/config.ts'
import { jsonFlag, print, reportProblems } from './run.ts'

const update = defineCommand({
  meta: {
    name: 'update',
    description: "Download today's exchange rates to RATES_FILE; running processes reload it",
  },
  args: jsonFlag,
  run: ({ args }) =>
    reportProblems(async () => {
      const config = readConfig()
      const file = requireFile(config)
      const { date, rates } = await downloadExchangeRates(config.RATES_URL, file)
      const text = `Updated ${file} with ${rates.size} exchange rates of ${date} from ${config.RATES_URL}.`
      print(args.json, { file, date, currencies: rates.size }, text)
    }),
})

export const rates = defineCommand({
  meta: { name: 'rates', description: 'Update the exchange rates' },
  subCommands: { update },
})

function requireFile({ RATES_FILE }: Config): string {
  if (RATES_FILE) return RATES_FILE
  throw new ConfigError(
    'RATES_FILE is not set. Set it to the file where the exchange rates are stored, then run this again.',
  )
}
