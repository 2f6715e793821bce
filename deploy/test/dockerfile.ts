import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, matchesGlob } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type Step = { instruction: string; text: string }
export type Stage = { name: string; image: string; steps: Step[] }
export type Built = { root: string; environment: Record<string, string>; inImage(path: string): string }

export function readStages(dockerfile: string): Stage[] {
  const stages: Stage[] = []
  const lines = dockerfile.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ')
  for (const [, instruction = '', text = ''] of lines.matchAll(/^([A-Z]+)\s+(.*\S)\s*$/gm)) {
    const [, image = '', name] = instruction === 'FROM' ? (/^(\S+)(?:\s+AS\s+(\S+))?$/.exec(text) ?? []) : []
    if (instruction === 'FROM') stages.push({ name: name ?? `stage-${stages.length}`, image, steps: [] })
    else stages.at(-1)?.steps.push({ instruction, text: text.replace(/\s+/g, ' ') })
  }
  return stages
}

type Building = {
  context: string
  folder: string
  /** Replaces a Dockerfile step; returns true if it did. */
  instead?(stage: Stage, step: Step, folder: string): Promise<boolean>
}

/** Runs the steps of a stage as Docker would, in a folder instead of the root file system. */
export async function buildStage(stage: Stage, { context, folder, instead }: Building): Promise<Built> {
  const root = join(folder, stage.name)
  const environment: Record<string, string> = {}
  // The image has a user of this name; here another user stands in, which every machine has.
  const inImage = (text: string) =>
    text.replaceAll(/(?<=^|[\s"`(])\/(?=(app|var|usr)\b)/g, `${root}/`).replaceAll('node:node', '65534:65534')
  const ignored = await readIgnored(context)
  let workFolder = root
  await mkdir(join(root, 'usr/local/bin'), { recursive: true })
  await chmod(root, 0o755)
  for (const step of stage.steps) {
    if (await instead?.(stage, step, workFolder)) continue
    if (step.instruction === 'WORKDIR') {
      workFolder = inImage(step.text)
      await mkdir(workFolder, { recursive: true })
    }
    if (step.instruction === 'ENV') Object.assign(environment, readPairs(step.text))
    if (step.instruction === 'COPY') await copy(step.text, { context, folder, workFolder, ignored })
    if (step.instruction === 'RUN') {
      const options = { cwd: workFolder, timeout: 500_000, maxBuffer: 2 ** 26 }
      await run('/bin/sh', ['-c', inImage(step.text)], options).catch((error) => {
        throw new Error(`RUN ${step.text} failed\n${error.stdout}${error.stderr}`)
      })
    }
  }
  return { root, environment, inImage }
}

function readPairs(text: string): Record<string, string> {
  const pairs = text.matchAll(/([A-Z_]+)=(?:"([^"]*)"|(\S+))/g)
  return Object.fromEntries([...pairs].map(([, name, quoted, plain]) => [name, quoted ?? plain]))
}

type Copying = { context: string; folder: string; workFolder: string; ignored(path: string): boolean }

async function copy(text: string, { context, folder, workFolder, ignored }: Copying): Promise<void> {
  const [, stage, rest = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? []
  const words = rest.split(' ')
  const target = words.pop() ?? ''
  for (const word of words) {
    const source = stage ? join(folder, stage, word) : join(context, word)
    const folderItself = (await stat(source)).isDirectory()
    const destination = join(workFolder, target, folderItself || !target.endsWith('/') ? '' : basename(word))
    const filter = (path: string) => !ignored(path.slice(context.length + 1))
    await mkdir(dirname(destination), { recursive: true })
    // Hard-links files, because copying node_modules would take longer than all other steps.
    if (stage) await run('cp', ['--archive', '--link', '--no-target-directory', source, destination])
    else await cp(source, destination, { recursive: true, filter, verbatimSymlinks: true })
  }
}

/** As in Docker, the last pattern that matches a path or one of its folders decides; `!` includes it again. */
async function readIgnored(context: string): Promise<(path: string) => boolean> {
  const lines = (await readFile(join(context, '.dockerignore'), 'utf8')).split('\n').filter(Boolean)
  const matches = (path: string, pattern: string): boolean =>
    path !== '.' && path !== '' && (matchesGlob(path, pattern) || matches(dirname(path), pattern))
  return (path) => lines.findLast((line) => matches(path, line.replace(/^!/, '')))?.startsWith('!') === false
}
