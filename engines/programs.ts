import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

export const projectFolder = join(import.meta.dirname, '..')

const run = promisify(execFile)

// Folders of server programs that may be only on root's PATH.
const serverFolders = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin']

export async function findOnPath(name: string): Promise<string[]> {
  const folders = new Set([...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...serverFolders])
  const found: string[] = []
  for (const folder of folders) {
    if (await isExecutable(join(folder, name))) found.push(join(folder, name))
  }
  return found
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

export type SystemUser = { name: string; uid: number; gid: number }

export async function readVersion(program: string, user?: SystemUser): Promise<number[]> {
  const { stdout } = await run(program, ['--version'], { cwd: '/', uid: user?.uid, gid: user?.gid, timeout: 10_000 })
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0]
  if (!version) throw new Error(`\`${program} --version\` printed no version number: ${stdout.trim()}`)
  return version.split('.').map(Number)
}
