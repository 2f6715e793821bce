import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { type Config, ConfigError } from './config.ts'
import type { Log } from './log.ts'

/** Units of each currency for one of the base; decimal texts, since binary fractions would lose cents. */
export type RateTable = { date: string; rates: ReadonlyMap<string, string> }
export type Rates = { current(): RateTable }

const builtIn = new URL('../../data/rates.json', import.meta.url)
const lookAgainMs = 30_000
const oldDays = 14
const day = 86_400_000

const ratesFile = z.object({
  base: z.string(),
  date: z.iso.date(),
  rates: z.record(z.string().regex(/^[a-z]{3}$/), z.string().regex(/^\d+(\.\d+)?$/)),
})

/** From RATES_FILE, and from its successor once it has changed; without one, from a table that comes with the program. */
export function openRates(config: Pick<Config, 'RATES_FILE'>, log: Log): Rates {
  const file = config.RATES_FILE ?? builtIn
  let read = readRates(file)
  let lookedAt = Date.now()
  warnOfAge(read.table, config, log)

  function lookAgain(): void {
    lookedAt = Date.now()
    try {
      if (statSync(file).mtimeMs === read.mtimeMs) return
      read = readRates(file)
      log.info({ file: String(file), date: read.table.date }, 'The rates have changed and were loaded')
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'The new rates are not usable; the old ones stay')
    }
  }

  return {
    current() {
      if (config.RATES_FILE && Date.now() - lookedAt > lookAgainMs) lookAgain()
      return read.table
    },
  }
}

/** Puts the reference rates of the European Central Bank, or of who speaks the same XML, in place of the file. */
export async function downloadRates(address: string, file: string): Promise<RateTable> {
  const temporary = `${file}.${randomUUID()}.part`
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(60_000) })
    if (!response.ok) throw new Error(`${address} answers ${response.status}`)
    const content = readXml(await response.text())
    await writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`)
    await rename(temporary, file)
    return readRates(file).table
  } catch (error) {
    await rm(temporary, { force: true })
    throw new ConfigError(`${file} was not updated: ${(error as Error).message}.`)
  }
}

function readXml(text: string): z.infer<typeof ratesFile> {
  const date = /<Cube time=['"](\d{4}-\d\d-\d\d)['"]/.exec(text)?.[1]
  const rates = [...text.matchAll(/currency=['"]([A-Z]{3})['"] rate=['"]([\d.]+)['"]/g)].map(
    ([, code = '', rate = '']) => [code.toLowerCase(), rate],
  )
  if (!date || rates.length === 0) throw new Error('it is no list of rates of the European Central Bank')
  return { base: 'eur', date, rates: Object.fromEntries([['eur', '1'], ...rates]) }
}

function readRates(file: string | URL): { table: RateTable; mtimeMs: number } {
  try {
    const { mtimeMs } = statSync(file)
    const { date, rates } = ratesFile.parse(JSON.parse(readFileSync(file, 'utf8')))
    return { table: { date, rates: new Map(Object.entries(rates)) }, mtimeMs }
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new ConfigError(`RATES_FILE is ${JSON.stringify(String(file))}, which can't be used: ${reason}`)
  }
}

function warnOfAge({ date }: RateTable, { RATES_FILE }: Pick<Config, 'RATES_FILE'>, log: Log): void {
  if (Date.now() - Date.parse(date) < oldDays * day) return
  const advice = 'Sales in other currencies than the workspace has are converted by them: run `tributary rates update`'
  if (RATES_FILE) log.warn({ date }, `The rates are old. ${advice}`)
  else log.info({ date }, `The built-in rates are old. ${advice} with RATES_FILE set`)
}
