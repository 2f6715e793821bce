import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const size = ['--clicks-per-day', '360M', '--links', '40G', '--years', '2']

test('`sizing` prints machines, disks, cost drivers and the source of each figure, without any setting', async () => {
  const { stdout, stderr, code } = await sizing(...size)
  expect([code, stderr]).toEqual([0, ''])
  for (const role of ['Caddy', 'redirect', 'api', 'worker', 'NATS', 'PostgreSQL', 'Valkey', 'ClickHouse'])
    expect(stdout).toMatch(new RegExp(`^${role} +\\d+ `, 'm'))
  for (const disk of ['events', 'rollups', 'event log', 'links', 'backups'])
    expect(stdout).toMatch(new RegExp(`^${disk} +\\w+ +\\d`, 'm'))
  expect(stdout).toMatch(/^disk for links +\d+ TB +\d+ %/m)
  expect(stdout).toMatch(/NOT BUILT: 40G links are beyond one PostgreSQL/)
  expect(stdout).toMatch(/one machine with 2 cores/)
  expect(stdout).toMatch(/^\d+ machines with \d+ cores, \d+ TB of disk, and \d+ TB of backups elsewhere\.$/m)
  const cited = new Set(stdout.split('Figures:')[0]?.match(/\[\d+\]/g))
  const listed = stdout.split('Figures:')[1]?.match(/^ {2}\[\d+\](?= .+ \(.+\)$)/gm) ?? []
  expect(listed.map((text) => text.trim()).sort()).toEqual([...cited].sort())
})

test('`sizing` has no plural for one, and no backups without any', async () => {
  const { stdout } = await sizing(
    '--clicks-per-day',
    '1',
    '--links',
    '1',
    '--screens-per-second',
    '1',
    '--backups',
    '0',
  )
  expect(stdout).toMatch(/^1 click a day for 1 year, at most 1 a second; 1 link\.$/m)
  expect(stdout).toMatch(/^1 machine with \d cores, \d+ GB of disk\.$/m)
  expect(stdout).toMatch(/ 1 screen\/s /)
})

test('`sizing --json` prints the same as JSON', async () => {
  const { stdout } = await sizing(...size, '--json', '--layout', 'separate')
  expect(JSON.parse(stdout)).toMatchObject({
    demand: { clicksPerDay: 360e6, links: 40e9, years: 2, layout: 'separate' },
    layout: 'separate',
    machines: expect.arrayContaining([
      expect.objectContaining({ role: 'redirect', from: expect.arrayContaining(['busy']) }),
    ]),
    settings: { NATS_REPLICAS: '3' },
    basis: { redirectsPerSecond: { value: expect.any(Number), source: expect.stringContaining('bench:redirect') } },
  })
})

test.each([
  ['--clicks-per-day 1M', 'Missing required argument: --links. See: tributary sizing --help'],
  [
    '--clicks-per-day lots --links 1',
    '--clicks-per-day is "lots". Give a number without commas or spaces, with k, M, G or T',
  ],
  ['--clicks-per-day -5 --links 1', "Numbers can't be negative: -5. See: tributary sizing --help"],
  ['--clicks-per-day=-5 --links 1', `--clicks-per-day is "-5". Numbers can't be negative.`],
  ['--clicks-per-day 1M --links 1k --years 0', '--years is 0. Give a number from 0.1 to 20.'],
  ['--clicks-per-day 1M --links 1k --regions 1.5', '--regions is 1.5. Give a whole number from 1 to 50.'],
  ['--clicks-per-day 1M --links 1k --regions 60', '--regions is 60. Give a whole number from 1 to 50.'],
  [
    '--clicks-per-day 1M --links 1k --layout one --regions 3',
    '--layout one has one region. Leave out --regions, or use --layout separate.',
  ],
  ['--clicks-per-day 1M --links 2T', '--links is 2,000,000,000,000. Give a number from 1 to 1T.'],
  [
    '--clicks-per-day 1M --links 1k --layout many',
    'Invalid value for argument: --layout (many). Expected one of: auto, one, separate.',
  ],
])('`sizing %s` is refused in one line', async (line, message) => {
  const { stdout, stderr, code } = await sizing(...line.split(' '))
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^.+\n$/)
  expect(stderr.startsWith(message), stderr).toBe(true)
})

async function sizing(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const started = promisify(execFile)(process.execPath, [main, 'sizing', ...words], { env: { PATH: process.env.PATH } })
  return started.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}
