import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { projectFolder } from '../engines/programs.ts'
import { supportedVersions } from '../server/src/platform/engine-versions.ts'
import { temporaryFolder } from './test/program.ts'

// ClickHouse's own package can't be installed here: a stand-in for apt-cache tells its candidate, and only the script's
// decision and the files that it writes are tested.
const run = promisify(execFile)
const password = 'p0123'

type Machine = { candidate?: string; inProcess?: boolean }

async function machine({ candidate = '(none)', inProcess = false }: Machine) {
  const folder = await temporaryFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const at = (...names: string[]) => join(folder.path, ...names)
  for (const name of ['bin', 'units']) await mkdir(at(name))
  await writeFile(at('settings'), `CH_PASSWORD=${password}\n`)
  if (inProcess) await writeFile(at('units/tributary-clickhouse.service'), '')
  const policy = `clickhouse-server:\n  Installed: (none)\n  Candidate: ${candidate}\n  Version table:\n     18.16.1+ds-7.3+b2 500`
  await writeFile(at('bin/apt-cache'), `#!/bin/sh\ncat <<'TEXT'\n${policy}\nTEXT\n`)
  await chmod(at('bin/apt-cache'), 0o755)

  /** Runs shell code after sourcing the files as install.sh does. */
  async function script(code: string) {
    const header = `set -eu; . deploy/settings.sh; . deploy/systemd/clickhouse.sh
      settings='${at('settings')}' units='${at('units')}'
      clickhouse_folder='${at('clickhouse-server')}' clickhouse_settings='${at('clickhouse.env')}'`
    const env = { PATH: `${at('bin')}${delimiter}${process.env.PATH}` }
    const result = await run('/bin/sh', ['-c', `${header}\n${code}`], { cwd: projectFolder, env }).catch(
      (error) => error,
    )
    return { code: result.code ?? 0, stdout: result.stdout.trim(), stderr: result.stderr }
  }
  return { at, script }
}

const choose = 'choose_clickhouse; echo "$clickhouse $clickhouse_unit"'

describe('install.sh chooses ClickHouse', () => {
  const inProcess = 'in-process tributary-clickhouse'
  const server = 'server clickhouse-server'
  test.each<[string, Machine, string, RegExp]>([
    ['no package', {}, inProcess, /for development and trials.*package source/],
    ['Debian’s package of 2018', { candidate: '18.16.1+ds-7.3+b2' }, inProcess, /trials/],
    ['a version below the minimum', { candidate: '24.8.14.39' }, inProcess, /trials/],
    ['the minimum', { candidate: '25.3.2.39' }, server, /using clickhouse-server 25.3.2.39/],
    ['a newer version', { candidate: '26.10.1.1' }, server, /using clickhouse-server 26/],
    ['a server beside existing events', { candidate: '26.7.2.1', inProcess: true }, inProcess, /stays in process/],
  ])('%s', async (_, found, expected, message) => {
    const result = await (await machine(found)).script(choose)
    expect(result).toMatchObject({ code: 0, stdout: expected })
    expect(result.stderr).toMatch(message)
  })

  test('and names the part of the guide that explains it', async () => {
    const { stderr } = await (await machine({})).script(choose)
    expect(stderr).toContain('docs/guides/self-hosting.md, "The ClickHouse server"')
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
