import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readConfig } from '../platform/config.ts'
import { settings } from '../platform/settings.ts'

const run = promisify(execFile)
const main = fileURLToPath(new URL('../main.ts', import.meta.url))

test('.env.example and the docs page about configuration match the settings', async () => {
  await expect(run(process.execPath, [main, 'settings', '--check'])).resolves.toEqual({ stdout: '', stderr: '' })
})

test('the printed .env example has every setting, with a value for all except secrets', async () => {
  const { stdout } = await run(process.execPath, [main, 'settings'], { env: {} })
  const named = [...stdout.matchAll(/^(?:# )?([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name, value])
  expect(named.map(([name]) => name)).toEqual(Object.keys(settings))
  const example = Object.fromEntries(named)
  const all = Object.entries(settings as Record<string, { secret?: true; default?: string }>)
  const secrets = all
    .filter(([, { secret, default: defaultValue }]) => secret && defaultValue === undefined)
    .map(([name]) => name)
  const problem = `usable:${secrets.map((name) => `\n- ${name} is not set. .+`).join('')}$`
  expect(() => readConfig(example)).toThrow(new RegExp(problem))
  const filled = secrets.map((name) => [name, `1:${'a1'.repeat(32)}`])
  expect(() => readConfig({ ...example, ...Object.fromEntries(filled) })).not.toThrow()
})
