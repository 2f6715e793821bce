import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { type Config, ConfigError } from '../../platform/config.ts'
import type { Log } from '../../platform/log.ts'

/** Exchange rates: units of each currency per unit of the base currency, as decimal text to avoid float rounding. */
export type ExchangeRates = { date: string; rates: ReadonlyMap<string, string> }

const builtIn = new URL('../../../data/exchange-rates.json', import.meta.url)
const checkIntervalMs = 30_000
const oldAfterMs = 14 * 86_400_000

const exchangeRatesFile = z.object({
  base: z.string(),
  date: z.iso.date(),
  rates: z.record(z.string().regex(/^[a-z]{3}$/), z.string().regex(/^\d+(\.\d+)?$/)),
})

/** Returns a function that returns current exchange rates: from RATES_FILE, reread on change, or the built-in file. */
export function openExchangeRates({ RATES_FILE }: Pick<Config, 'RATES_FILE'>, log: Log): () => ExchangeRates {
  const file = RATES_FILE ?? builtIn
  let { exchangeRates, mtimeMs } = readExchangeRates(file)
  let checkedAt = Date.now()
  if (Date.now() - Date.parse(exchangeRates.date) > oldAfterMs) {
    const { date } = exchangeRates
    if (RATES_FILE) log.warn({ date }, 'exchange rates are old: run `tributary rates update` daily')
    else log.info({ date }, 'built-in exchange rates are old: set RATES_FILE and run `tributary rates update` daily')
  }

  function reloadIfChanged(): void {
    checkedAt = Date.now()
    try {
      if (statSync(file).mtimeMs === mtimeMs) return
      ;({ exchangeRates, mtimeMs } = readExchangeRates(file))
      log.info({ file: String(file), date: exchangeRates.date }, 'exchange rates reloaded')
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'new exchange rates are invalid, keeping the previous ones')
    }
  }

  return () => {
    if (RATES_FILE && Date.now() - checkedAt > checkIntervalMs) reloadIfChanged()
    return exchangeRates
  }
}

/** Converts the daily XML of the European Central Bank to the content of RATES_FILE. */
export function parseBankXml(text: string): z.infer<typeof exchangeRatesFile> {
  const date = /<Cube time=['"](\d{4}-\d\d-\d\d)['"]/.exec(text)?.[1]
  const rates = [...text.matchAll(/currency=['"]([A-Z]{3})['"] rate=['"]([\d.]+)['"]/g)].map(
    ([, code = '', rate = '']) => [code.toLowerCase(), rate],
  )
  if (!date || rates.length === 0) throw new Error('it is not an exchange rate list of the European Central Bank')
  return { base: 'eur', date, rates: Object.fromEntries([['eur', '1'], ...rates]) }
}

export function readExchangeRates(file: string | URL): { exchangeRates: ExchangeRates; mtimeMs: number } {
  try {
    const { mtimeMs } = statSync(file)
    const { date, rates } = exchangeRatesFile.parse(JSON.parse(readFileSync(file, 'utf8')))
    return { exchangeRates: { date, rates: new Map(Object.entries(rates)) }, mtimeMs }
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new ConfigError(`RATES_FILE is ${JSON.stringify(String(file))}, which can't be used: ${reason}`)
  }
}
