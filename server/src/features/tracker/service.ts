import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export type TrackerFile = {
  bytes: Buffer<ArrayBuffer>
  packed: Buffer<ArrayBuffer>
  /** The hash of the file's content, part of its permanent URL. */
  hash: string
  /** The value of the script tag's `integrity` attribute. */
  integrity: string
}

export type TrackerFiles = {
  /** The tracker as a classic script, for a script tag. */
  script: TrackerFile
  /** The tracker as an ES module, for bundlers. */
  module: TrackerFile
  /** The scripts of earlier releases, which older script tags still request. */
  released: TrackerFile[]
}

const scriptUrl = import.meta.resolve('@tributary/tracker/script')

export async function readTracker(releasedFolder = new URL('../released/', scriptUrl)): Promise<TrackerFiles> {
  const released: TrackerFile[] = []
  const folder = fileURLToPath(releasedFolder)
  for await (const name of glob('*.js', { cwd: folder }))
    released.push(trackerFile(await readFile(`${folder}/${name}`)))
  return {
    script: trackerFile(await readFile(new URL(scriptUrl))),
    module: trackerFile(await readFile(new URL(import.meta.resolve('@tributary/tracker')))),
    released,
  }
}

/** The HTML tag for a page; with the integrity hash, the browser runs only exactly this script. */
export function scriptTag(apiUrl: string, { hash, integrity }: TrackerFile): string {
  return `<script defer src="${apiUrl}/tracker.${hash}.js" integrity="${integrity}" crossorigin="anonymous"></script>`
}

function trackerFile(bytes: Buffer): TrackerFile {
  const digest = (algorithm: string) => createHash(algorithm).update(bytes).digest()
  return {
    bytes: Buffer.from(bytes),
    packed: gzipSync(bytes, { level: 9 }),
    hash: digest('sha256').toString('hex').slice(0, 16),
    integrity: `sha384-${digest('sha384').toString('base64')}`,
  }
}
