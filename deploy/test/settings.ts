import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectFolder } from '../../engines/programs.ts'

const run = promisify(execFile)

/** Creates a separate folder with the files that install.sh needs. */
export async function copyInstaller(folder: string): Promise<void> {
  await mkdir(join(folder, 'deploy'), { recursive: true })
  for (const file of ['install.sh', 'deploy/settings.sh', 'compose.yaml', 'compose.scale.yaml']) {
    await cp(join(projectFolder, file), join(folder, file))
  }
}

export async function install(folder: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { env: { PATH: process.env.PATH, ...env }, timeout: 30_000 }
  const { stdout, stderr } = await run('/bin/sh', [join(folder, 'install.sh'), ...args], options)
  return stdout + stderr
}

/** Returns the services as Docker Compose parses them, with all variables filled in. */
export async function readCompose(folder: string, files: string[]): Promise<Compose> {
  const program = join(projectFolder, '.tools/compose/usr/bin/docker-compose')
  const { stdout } = await run(
    program,
    [...files.flatMap((file) => ['--file', join(folder, file)]), 'config', '--format', 'json'],
    { env: { PATH: process.env.PATH, HOME: folder }, maxBuffer: 2 ** 24 },
  ).catch((error) => {
    throw new Error(`${error.message}\nIf docker-compose is missing: npm run setup -- --deploy`)
  })
  return JSON.parse(stdout)
}

export type Service = {
  image?: string
  build?: object
  command?: string[]
  user?: string
  environment?: Record<string, string>
  mem_limit?: string
  ports?: { published: string; host_ip?: string; protocol: string }[]
  networks?: Record<string, { ipv4_address?: string } | null>
  volumes?: { type: string; source: string; target: string; read_only?: boolean }[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  restart?: string
  healthcheck?: { test?: string[]; disable?: boolean }
  depends_on?: Record<string, { condition: string }>
}
export type Compose = { services: Record<string, Service> }
