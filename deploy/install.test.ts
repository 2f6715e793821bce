import { execFile } from 'node:child_process'
import { chmod, glob, readFile, stat, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { projectFolder } from '../engines/programs.ts'
import { temporaryFolder } from './test/program.ts'
import { copyInstaller, install } from './test/settings.ts'

const run = promisify(execFile)
const parts = new AsyncDisposableStack()
afterAll(() => parts.disposeAsync())

async function newFolder(): Promise<{ path: string; settings(): Promise<Record<string, string>> }> {
  const { path } = parts.use(await temporaryFolder())
  await copyInstaller(path)
  const settings = async () => {
    const lines = (await readFile(join(path, '.env'), 'utf8')).trimEnd().split('\n')
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)))
  }
  return { path, settings }
}

test('install.sh writes secrets that only the owner can read, and keeps them when it runs again', async () => {
  const { path, settings } = await newFolder()
  await install(path, ['--domain', 'Go.Example.com', '--email', 'me@example.com', '--settings-only'])
  const first = await settings()
  expect(first).toEqual({
    CLICK_LOG_FORMAT: 'binary',
    SHORT_DOMAIN: 'go.example.com',
    API_HOST: 'api.go.example.com',
    CADDY_TLS: 'me@example.com',
    POSTGRES_PASSWORD: expect.stringMatching(/^p[0-9a-f]{48}$/),
    NATS_PASSWORD: expect.stringMatching(/^p[0-9a-f]{48}$/),
    CLICKHOUSE_PASSWORD: expect.stringMatching(/^p[0-9a-f]{48}$/),
    VALKEY_PASSWORD: expect.stringMatching(/^p[0-9a-f]{48}$/),
    CLICK_ID_KEYS: expect.stringMatching(/^1:[0-9a-f]{64}$/),
    ENCRYPTION_KEYS: expect.stringMatching(/^1:[0-9a-f]{64}$/),
  })
  expect(new Set(Object.values(first)).size).toBe(10)
  expect((await stat(join(path, '.env'))).mode & 0o777).toBe(0o600)

  expect(await install(path, ['--domain', 'GO.example.com', '--settings-only'])).not.toContain('stays')
  const other = ['--domain', 'other.example.com', '--email', 'internal', '--settings-only']
  const output = await install(path, other)
  expect(output).toContain('SHORT_DOMAIN stays go.example.com, because it is in .env')
  expect(output).toContain('CADDY_TLS stays me@example.com')
  expect(await settings()).toEqual(first)
})

test.each([' go.example.com ', 'https://Go.Example.com/', 'http://go.example.com', 'go.example.com.'])(
  'install.sh accepts a pasted domain: %j',
  async (domain) => {
    const { path, settings } = await newFolder()
    await install(path, ['--domain', domain, '--email', '', '--settings-only'])
    expect(await settings()).toMatchObject({ SHORT_DOMAIN: 'go.example.com', CADDY_TLS: '' })
  },
)

test('install.sh adds missing settings to an existing .env, also without a final line break', async () => {
  const { path, settings } = await newFolder()
  await writeFile(join(path, '.env'), 'LOG_LEVEL=warn\nSHORT_DOMAIN=own.example.com')
  await install(path, ['--domain', 'other.example.com', '--settings-only'])
  const added = await settings()
  expect(added).toMatchObject({
    LOG_LEVEL: 'warn',
    SHORT_DOMAIN: 'own.example.com',
    API_HOST: 'api.own.example.com',
    CADDY_TLS: '',
  })
  // Workers of an existing installation may be older.
  expect(added).not.toHaveProperty('CLICK_LOG_FORMAT')
})

test('DOMAIN and EMAIL may come from the environment', async () => {
  const { path, settings } = await newFolder()
  await install(path, ['--settings-only'], { DOMAIN: 'a.example.org', EMAIL: 'internal' })
  expect(await settings()).toMatchObject({ API_HOST: 'api.a.example.org', CADDY_TLS: 'internal' })
})

describe('install.sh reports an error and changes nothing', () => {
  test.each([
    [['--settings-only'], /no domain given/],
    [['--domain', 'nodots', '--settings-only'], /nodots is not a domain/],
    [['--domain', 'a.example.com; rm -rf /', '--settings-only'], /is not a domain/],
    [['--domain', 'a.example.com\nLOG_LEVEL=silent', '--settings-only'], /is not a domain/],
    [['--domain', 'a.example.com:8443', '--settings-only'], /a.example.com:8443 is not a domain/],
    [['--domain', `${'a'.repeat(64)}.example.com`, '--settings-only'], /is not a domain/],
    [['--domain', 'bücher.example', '--settings-only'], /xn--/],
    [['--domain', '192.0.2.1', '--settings-only'], /is not a domain/],
    [['--domain', 'a.example.com', '--email', 'me@example.com you@example.com', '--settings-only'], /not an e-mail/],
    [['--domain', 'a.example.com', '--email', 'me@example.com\nA=b', '--settings-only'], /not an e-mail/],
    [['--domain', 'a.example.com', '--email', 'me', '--settings-only'], /me is not an e-mail address/],
    [['--domain'], /--domain needs a value/],
    [['--verbose'], /unknown option --verbose/],
  ])('%j', async (args, message) => {
    const { path } = await newFolder()
    await expect(install(path, args)).rejects.toThrow(message)
    await expect(stat(join(path, '.env'))).rejects.toThrow(/ENOENT/)
  })

  test('without Docker', async () => {
    const { path } = await newFolder()
    await writeFile(join(path, 'docker'), '#!/bin/sh\nexit 1\n')
    await chmod(join(path, 'docker'), 0o755)
    const env = { PATH: `${path}${delimiter}${process.env.PATH}` }
    await expect(install(path, ['--domain', 'a.example.com'], env)).rejects.toThrow(/Docker with Compose is needed/)
  })
})

test('install.sh starts all services and prints the next steps', async () => {
  const { path } = await newFolder()
  await writeFile(join(path, 'docker'), `#!/bin/sh\necho "$*" >>'${path}/calls'\n`)
  await chmod(join(path, 'docker'), 0o755)
  const env = { PATH: `${path}${delimiter}${process.env.PATH}` }
  const output = await install(path, ['--domain', 'a.example.com'], env)
  expect(output).toContain('https://api.a.example.com/links')
  const calls = (await readFile(join(path, 'calls'), 'utf8')).trimEnd().split('\n')
  expect(calls.map((call) => call.split(' -e')[0])).toEqual([
    'compose version',
    'info',
    'compose up --detach --build',
    'compose exec -T server node',
  ])
})

test('a failed start of Docker Compose is reported with advice', async () => {
  const { path } = await newFolder()
  await writeFile(join(path, 'docker'), '#!/bin/sh\ncase $* in *up*) echo "migrate exited (1)" >&2; exit 1 ;; esac\n')
  await chmod(join(path, 'docker'), 0o755)
  const env = { PATH: `${path}${delimiter}${process.env.PATH}` }
  await expect(install(path, ['--domain', 'a.example.com'], env)).rejects.toThrow(
    /migrate exited[\s\S]*docker compose logs migrate/,
  )
})

test('every shell script passes shellcheck', async () => {
  const scripts = await Array.fromAsync(glob(['*.sh', '{.ci,deploy,engines}/**/*.sh'], { cwd: projectFolder }))
  expect(scripts.length).toBeGreaterThan(5)
  await run('shellcheck', ['--external-sources', ...scripts], { cwd: projectFolder }).catch((error) => {
    throw new Error(`${error.stdout}\nIf shellcheck is missing: npm run setup -- --deploy`)
  })
})
