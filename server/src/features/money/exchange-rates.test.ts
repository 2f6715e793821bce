import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../../../engines/port.ts'
import { openLog } from '../../platform/log.ts'
import { openExchangeRates } from './exchange-rates.ts'
import { downloadExchangeRates } from './service.ts'

const log = openLog('silent')

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tributary-exchange-rates-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

async function serveBank(text: string, status = 200): Promise<string> {
  const port = await freePort()
  const server = createServer((_, response) => response.writeHead(status).end(text))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${port}/daily.xml`
}

test('without RATES_FILE the major currencies have built-in exchange rates', () => {
  const { rates, date } = openExchangeRates({ RATES_FILE: undefined }, log)()
  expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
  for (const code of ['usd', 'eur', 'gbp', 'jpy', 'inr']) expect(rates.get(code)).toMatch(/^\d/)
})

test('a download replaces RATES_FILE, and a running process reloads it', async () => {
  const file = join(await folder(), 'exchange-rates.json')
  await writeFile(file, JSON.stringify({ base: 'eur', date: '2020-01-01', rates: { eur: '1', usd: '2' } }))
  await utimes(file, 1, 1)
  const current = openExchangeRates({ RATES_FILE: file }, log)
  expect(current().rates.get('usd')).toBe('2')
  const list = `<Cube><Cube time='2026-11-13'><Cube currency='USD' rate='1.1234'/><Cube currency='JPY' rate='170.5'/></Cube></Cube>`
  expect((await downloadExchangeRates(await serveBank(list), file)).date).toBe('2026-11-13')
  expect(current().rates.get('usd')).toBe('2')
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(current()).toEqual({
    date: '2026-11-13',
    rates: new Map([
      ['eur', '1'],
      ['usd', '1.1234'],
      ['jpy', '170.5'],
    ]),
  })
})

test.each([
  ['a text without exchange rates', 'hello', 200, /not an exchange rate list/],
  ['an error', '', 500, /returned 500/],
  ['more than a megabyte', 'x'.repeat(1_000_001), 200, /more than 1000000 bytes/],
])('a download of %s leaves RATES_FILE unchanged', async (_, text, status, reason) => {
  const file = join(await folder(), 'exchange-rates.json')
  await writeFile(file, 'before')
  await expect(downloadExchangeRates(await serveBank(text, status), file)).rejects.toThrow(reason)
  expect(await readFile(file, 'utf8')).toBe('before')
})

test.each([
  ['is missing', undefined],
  ['is not JSON', 'hello'],
  ['has a number instead of a decimal text', '{"base":"eur","date":"2026-01-01","rates":{"usd":1.1}}'],
  ['has an invalid currency code', '{"base":"eur","date":"2026-01-01","rates":{"dollar":"1.1"}}'],
])('a RATES_FILE that %s is refused at startup', async (_, text) => {
  const file = join(await folder(), 'exchange-rates.json')
  if (text !== undefined) await writeFile(file, text)
  expect(() => openExchangeRates({ RATES_FILE: file }, log)).toThrow(/RATES_FILE is .*can't be used/)
})
