import { execFile } from 'node:child_process'
import { chmod, glob, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { projectFolder } from '../engines/programs.ts'
import { temporaryFolder } from './test/program.ts'

const run = promisify(execFile)
const folder = join(import.meta.dirname, 'systemd')
const units = await Array.fromAsync(glob('*.service', { cwd: folder }))

test('systemd accepts every unit without a warning', async () => {
  await using root = await temporaryFolder()
  await put(root.path, 'opt/tributary/node_modules/.bin/node', '', 0o755)
  await put(root.path, 'opt/tributary/.tools/nats/usr/sbin/nats-server', '', 0o755)
  await put(root.path, 'usr/bin/redis-server', '', 0o755)
  await put(root.path, 'bin/sh', '', 0o755)
  await put(root.path, 'usr/bin/caddy', '', 0o755)
  await put(root.path, 'etc/systemd/system/caddy.service', '[Service]\nExecStart=/usr/bin/caddy run --environ\n')
  await put(root.path, 'etc/systemd/system/caddy.service.d/tributary.conf', await readFile(join(folder, 'caddy.conf')))
  for (const name of ['network', 'network-online', 'sysinit', 'basic', 'shutdown', 'multi-user']) {
    await put(root.path, `etc/systemd/system/${name}.target`, '[Unit]\n')
  }
  for (const name of ['postgresql.service'])
    await put(root.path, `etc/systemd/system/${name}`, '[Service]\nExecStart=/usr/bin/caddy\n')
  for (const unit of units) await put(root.path, `etc/systemd/system/${unit}`, await readFile(join(folder, unit)))
  const names = [...units, 'caddy.service']
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', `--root=${root.path}`, ...names])
  expect(stdout + stderr).toBe('')
})

test('every file that a unit refers to exists', async () => {
  for (const unit of [...units, 'caddy.conf']) {
    const text = await readFile(join(folder, unit), 'utf8')
    const named = [
      ...text.matchAll(/(?:\/opt\/tributary\/|main\.ts |node )((?:deploy|server|engines|docs)\/[\w./-]+)/g),
    ]
    for (const [, file = ''] of named)
      await readFile(join(projectFolder, file)).catch(() => expect.unreachable(`${unit}: ${file}`))
  }
})

test('services run non-root and may write only their own state', async () => {
  expect(units.length).toBe(4)
  for (const unit of units) {
    const text = await readFile(join(folder, unit), 'utf8')
    for (const line of ['User=tributary', 'ProtectSystem=strict', 'NoNewPrivileges=true', 'CapabilityBoundingSet=\n']) {
      expect(text, unit).toContain(line)
    }
  }
})

test('services restart forever, and each has a memory limit', async () => {
  for (const unit of [...units, 'caddy.conf']) {
    const text = await readFile(join(folder, unit), 'utf8')
    for (const line of ['Restart=always', 'StartLimitIntervalSec=0']) expect(text, unit).toContain(`${line}\n`)
    if (unit !== 'caddy.conf') expect(text, unit).toMatch(/^MemoryMax=\d+[MG]$/m)
  }
})

test('systemd signals only the supervisor, which survives when the OOM killer ends a process', async () => {
  const text = await readFile(join(folder, 'tributary.service'), 'utf8')
  for (const line of ['KillMode=mixed', 'OOMPolicy=continue', 'REDIRECT_PROCESSES=1'])
    expect(text).toContain(`${line}\n`)
})

async function put(root: string, path: string, content: string | Buffer, mode = 0o644): Promise<void> {
  const file = join(root, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
  await chmod(file, mode)
}
