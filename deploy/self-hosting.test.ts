import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { projectFolder } from '../engines/programs.ts'
import { tributary } from '../server/src/commands/tributary.ts'
import { temporaryFolder } from './test/program.ts'
import { copyInstaller, install, readCompose } from './test/settings.ts'

const guide = await readFile(join(projectFolder, 'docs/guides/self-hosting.md'), 'utf8')
const blocks = [...guide.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, text = '']) => text.replace(/\\\n\s*/g, ''))
const commands = blocks.flatMap((text) => text.trim().split('\n')).map((line) => line.trim())
const folder = await temporaryFolder()
afterAll(() => folder[Symbol.asyncDispose]())
await copyInstaller(folder.path)

/** Returns the guide's commands with this prefix, without it; each command must be taken once. */
const taken = new Set<string>()
function take(beginning: string): string[] {
  const found = commands.filter((command) => command.startsWith(beginning))
  for (const command of found) taken.add(command)
  return found.map((command) => command.slice(beginning.length).trim())
}

test('./install.sh accepts the options of the guide', async () => {
  const [options = ''] = take('./install.sh')
  await install(folder.path, [...options.split(' '), '--settings-only'])
  expect(await readFile(join(folder.path, '.env'), 'utf8')).toContain('API_HOST=api.go.example.com\n')
})

test('Docker commands use existing files, services and Tributary commands', async () => {
  for (const command of take('docker compose exec')) {
    const [service = '', program, name = ''] = command.split(' ')
    expect(Object.keys((await readCompose(folder.path, ['compose.yaml'])).services)).toContain(service)
    expect([program, Object.keys(tributary.subCommands ?? {})]).toEqual(['tributary', expect.arrayContaining([name])])
  }
  for (const command of take('docker compose --file')) {
    const files = `--file ${command}`.matchAll(/--file (\S+)/g)
    await readCompose(
      folder.path,
      [...files].map(([, file = '']) => file),
    )
  }
})

test('helm commands set values that the chart has', async () => {
  const values = await readFile(join(import.meta.dirname, 'helm/tributary/values.yaml'), 'utf8')
  for (const command of take('helm install tributary deploy/helm/tributary')) {
    for (const [, name = ''] of command.matchAll(/--set (?:settings\.)?(\w+)=/g))
      expect(values).toMatch(new RegExp(`^ *${name}:`, 'm'))
  }
})

test('self-host.sh runs the steps without Docker, and every command is tested', async () => {
  const script = await readFile(join(import.meta.dirname, 'test/self-host.sh'), 'utf8')
  expect(script).toContain("/^## Without Docker/,/^## Several/p' docs/guides/self-hosting.md")
  const [, section = ''] = /^## Without Docker$([\s\S]*)^## Several servers$/m.exec(guide) ?? []
  const left = commands.filter((command) => !taken.has(command) && !section.replace(/\\\n\s*/g, '').includes(command))
  expect(left).toEqual([])
})
