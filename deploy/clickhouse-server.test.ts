import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { projectFolder } from '../engines/programs.ts'
import { supportedVersions } from '../server/src/platform/engine-versions.ts'
import { temporaryFolder } from './test/program.ts'

// ClickHouse's own package can't be installed here: apt-cache, systemctl, curl and tributary are stand-ins that record
// their calls, and only the script's decisions and the order of its steps are tested.
const run = promisify(execFile)
const password = 'p0123'

type Machine = { candidate?: string; inProcess?: boolean; failing?: string[] }

async function machine({ candidate = '(none)', inProcess = false, failing = [] }: Machine) {
  const folder = await temporaryFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const at = (...names: string[]) => join(folder.path, ...names)
  for (const name of ['bin', 'units']) await mkdir(at(name))
  await writeFile(at('settings'), `CH_PASSWORD=${password}\n`)
  if (inProcess) await writeFile(at('units/tributary-clickhouse.service'), '')
  const policy = `clickhouse-server:\n  Installed: (none)\n  Candidate: ${candidate}\n  Version table:\n     18.16.1+ds-7.3+b2 500`
  await program('apt-cache', `cat <<'TEXT'\n${policy}\nTEXT`)
  for (const name of ['systemctl', 'curl', 'tributary', 'sleep']) await program(name, '')
  await writeFile(at('calls'), '')

  async function program(name: string, text: string) {
    const fails = failing.map((call) => `case "${name} $*" in '${call}'*) exit 1 ;; esac`).join('\n')
    const record = name === 'apt-cache' || name === 'sleep' ? '' : `echo "${name} $*" >>'${at('calls')}'`
    await writeFile(at('bin', name), `#!/bin/sh\n${record}\n${fails}\n${text}\n`)
    await chmod(at('bin', name), 0o755)
  }

  /** Runs shell code after sourcing the files as install.sh does. */
  async function script(code: string, move = false) {
    const header = `set -eu; . deploy/settings.sh; . deploy/systemd/clickhouse.sh
      settings='${at('settings')}' units='${at('units')}' move=${move}
      clickhouse_folder='${at('clickhouse-server')}' clickhouse_settings='${at('clickhouse.env')}'
      install_units() { echo "install_units $clickhouse" >>'${at('calls')}'; }`
    const env = { PATH: `${at('bin')}${delimiter}${process.env.PATH}` }
    const result = await run('/bin/sh', ['-c', `${header}\n${code}`], { cwd: projectFolder, env }).catch(
      (error) => error,
    )
    const calls = (await readFile(at('calls'), 'utf8')).trimEnd().split('\n')
    return { code: result.code ?? 0, stdout: result.stdout.trim(), stderr: result.stderr, calls }
  }
  return { at, script }
}

const choose = 'choose_clickhouse; echo "$clickhouse $clickhouse_unit $move"'

describe('install.sh chooses ClickHouse', () => {
  test.each<[string, Machine, boolean, string, RegExp]>([
    ['no package', {}, false, 'in-process tributary-clickhouse false', /for development and trials.*package source/],
    [
      'Debian’s package of 2018',
      { candidate: '18.16.1+ds-7.3+b2' },
      false,
      'in-process tributary-clickhouse false',
      /trials/,
    ],
    [
      'a version below the minimum',
      { candidate: '24.8.14.39' },
      false,
      'in-process tributary-clickhouse false',
      /trials/,
    ],
    [
      'the minimum',
      { candidate: '25.3.2.39' },
      false,
      'server clickhouse-server false',
      /using clickhouse-server 25.3.2.39/,
    ],
    [
      'a newer version',
      { candidate: '26.10.1.1' },
      false,
      'server clickhouse-server false',
      /using clickhouse-server 26/,
    ],
    [
      'a server beside existing events',
      { candidate: '26.7.2.1', inProcess: true },
      false,
      'in-process tributary-clickhouse false',
      /--clickhouse-server/,
    ],
    [
      'a server, to move to',
      { candidate: '26.7.2.1', inProcess: true },
      true,
      'server clickhouse-server true',
      /using/,
    ],
    ['a server, nothing to move', { candidate: '26.7.2.1' }, true, 'server clickhouse-server false', /using/],
  ])('%s', async (_, found, move, expected, message) => {
    const result = await (await machine(found)).script(choose, move)
    expect(result).toMatchObject({ code: 0, stdout: expected })
    expect(result.stderr).toMatch(message)
  })

  test('a move without the package source is refused, with the page that explains it', async () => {
    const result = await (await machine({ candidate: '18.16.1+ds-7.3+b2', inProcess: true })).script(choose, true)
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('docs/guides/self-hosting.md') })
    const guide = await readFile(join(projectFolder, 'docs/guides/self-hosting.md'), 'utf8')
    expect(guide).toContain('\n### The ClickHouse server\n')
  })

  test('with the minimum version that the server checks', async () => {
    const { stdout } = await (await machine({})).script('echo $least_clickhouse')
    expect(stdout).toBe(supportedVersions.clickhouse.least)
  })
})

test('the server gets the shipped configuration, and its password in a file that only root can read', async () => {
  const { at, script } = await machine({ candidate: '26.7.2.1' })
  for (const _ of ['once', 'again']) expect(await script('configure_clickhouse_server')).toMatchObject({ code: 0 })
  const same = async (copy: string, file: string) =>
    expect(await readFile(at(copy), 'utf8')).toBe(await readFile(join(import.meta.dirname, file), 'utf8'))
  await same('clickhouse-server/config.d/tributary.xml', 'clickhouse/server.xml')
  await same('clickhouse-server/users.d/tributary.xml', 'clickhouse/users.xml')
  await same('units/clickhouse-server.service.d/tributary.conf', 'systemd/clickhouse-server.conf')
  expect(await readFile(at('clickhouse.env'), 'utf8')).toBe(`CLICKHOUSE_PASSWORD=${password}\n`)
  expect((await stat(at('clickhouse.env'))).mode & 0o777).toBe(0o600)
})

describe('install.sh --clickhouse-server', () => {
  const found = { candidate: '26.7.2.1', inProcess: true }
  const move = `${choose}; save_events; configure_clickhouse_server; load_events; ls "$units"`
  const folder = '/var/lib/tributary/before-clickhouse-server-'
  const shorten = (calls: string[]) => calls.map((call) => call.replace(/(before-clickhouse-server-)\d+/, '$1'))

  test('stops Tributary, makes a backup, and restores it into the server', async () => {
    const { at, script } = await machine(found)
    const { code, calls } = await script(move, true)
    expect([code, shorten(calls)]).toEqual([
      0,
      [
        'systemctl stop tributary',
        `tributary backup ${folder}`,
        'systemctl disable --quiet --now tributary-clickhouse',
        'curl --silent --fail --output /dev/null http://127.0.0.1:8123/ping',
        `tributary restore ${folder} --replace`,
      ],
    ])
    expect(await readdir(at('units'))).toEqual(['clickhouse-server.service.d'])
  })

  test('changes nothing if the backup fails', async () => {
    const { at, script } = await machine({ ...found, failing: ['tributary backup'] })
    const { code, stderr, calls } = await script(move, true)
    expect([code, shorten(calls)]).toEqual([
      1,
      ['systemctl stop tributary', `tributary backup ${folder}`, 'systemctl start tributary'],
    ])
    expect(stderr).toContain('nothing was changed')
    expect(await readdir(at('units'))).toEqual(['tributary-clickhouse.service'])
  })

  test.each(['tributary restore', 'curl'])('returns to the in-process engine if this fails: %s', async (call) => {
    const { at, script } = await machine({ ...found, failing: [call] })
    const { code, stderr, calls } = await script(move, true)
    expect(code).toBe(1)
    expect(calls.slice(-5)).toEqual([
      'systemctl disable --quiet --now clickhouse-server',
      'install_units in-process',
      'systemctl daemon-reload',
      'systemctl enable --quiet tributary-clickhouse',
      'systemctl start tributary-clickhouse tributary',
    ])
    expect(stderr).toContain('Tributary runs with the in-process engine again')
    expect(await readdir(at('units'))).toEqual(['tributary-clickhouse.service'])
  })

  test('an interrupted move returns to the in-process engine in the next run', async () => {
    const { at, script } = await machine(found)
    await script(`${choose}; save_events; configure_clickhouse_server`, true)
    const { stdout, calls } = await script(`${choose}; undo_clickhouse_server`)
    expect(stdout).toBe('in-process tributary-clickhouse false')
    expect(calls.at(-1)).toBe('systemctl disable --quiet --now clickhouse-server')
    expect(await readdir(at('units'))).toEqual(['tributary-clickhouse.service'])
  })
})
