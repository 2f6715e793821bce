import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../../engines/port.ts'
import { openLog } from './log.ts'
import { downloadRates, openRates } from './rates.ts'

const log = openLog('silent')

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tributary-rates-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

async function bankSaying(text: string, status = 200): Promise<string> {
  const port = await freePort()
  const server = createServer((_, response) => response.writeHead(status).end(text))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${port}/daily.xml`
}

test('without a file there are rates of the large currencies', () => {
  const { rates, date } = openRates({ RATES_FILE: undefined }, log).current()
  expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
  for (const code of ['usd', 'eur', 'gbp', 'jpy', 'inr']) expect(rates.get(code)).toMatch(/^\d/)
})

test('the list of the bank becomes the file, which a running process takes', async () => {
  const file = join(await folder(), 'rates.json')
  await writeFile(file, JSON.stringify({ base: 'eur', date: '2020-01-01', rates: { eur: '1', usd: '2' } }))
  await utimes(file, 1, 1)
  const rates = openRates({ RATES_FILE: file }, log)
  expect(rates.current().rates.get('usd')).toBe('2')
  const list = `<Cube><Cube time='2026-11-13'><Cube currency='USD' rate='1.1234'/><Cube currency='JPY' rate='170.5'/></Cube></Cube>`
  expect((await downloadRates(await bankSaying(list), file)).date).toBe('2026-11-13')
  expect(rates.current().rates.get('usd')).toBe('2')
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(rates.current()).toEqual({
    date: '2026-11-13',
    rates: new Map([
      ['eur', '1'],
      ['usd', '1.1234'],
      ['jpy', '170.5'],
    ]),
  })
})

test.each([
  ['something else', 'hello', 200, /no list of rates/],
  ['an error', '', 500, /answers 500/],
])('%s leaves the file as it was', async (_, text, status, reason) => {
  const file = join(await folder(), 'rates.json')
  await writeFile(file, 'before')
  await expect(downloadRates(await bankSaying(text, status), file)).rejects.toThrow(reason)
  expect(await readFile(file, 'utf8')).toBe('before')
})

test.each([
  ['is missing', undefined],
  ['is no JSON', 'hello'],
  ['has a number instead of a text', '{"base":"eur","date":"2026-01-01","rates":{"usd":1.1}}'],
  ['has a name of a currency that is none', '{"base":"eur","date":"2026-01-01","rates":{"dollar":"1.1"}}'],
])('a file that %s is refused at the start', async (_, text) => {
  const file = join(await folder(), 'rates.json')
  if (text !== undefined) await writeFile(file, text)
  expect(() => openRates({ RATES_FILE: file }, log)).toThrow(/RATES_FILE is .*can't be used/)
})
