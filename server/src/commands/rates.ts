import { defineCommand } from 'citty'
import { type Config, ConfigError, readConfig } from '../platform/config.ts'
import { downloadRates } from '../platform/rates.ts'
import { jsonFlag, print, reportProblems } from './run.ts'

const update = defineCommand({
  meta: { name: 'update', description: 'Get the exchange rates of today into RATES_FILE; running processes take them' },
  args: jsonFlag,
  run: ({ args }) =>
    reportProblems(async () => {
      const config = readConfig()
      const file = fileOf(config)
      const { date, rates } = await downloadRates(config.RATES_URL, file)
      const text = `Updated ${file} with ${rates.size} rates of ${date} from ${config.RATES_URL}.`
      print(args.json, { file, date, currencies: rates.size }, text)
    }),
})

export const rates = defineCommand({
  meta: { name: 'rates', description: 'Update the exchange rates' },
  subCommands: { update },
})

function fileOf({ RATES_FILE }: Config): string {
  if (RATES_FILE) return RATES_FILE
  throw new ConfigError('RATES_FILE is not set. Set it to the file in which the exchange rates are, or are to be put.')
}
