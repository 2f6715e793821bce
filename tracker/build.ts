import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { isolatedDeclarationSync } from 'rolldown/experimental'

const folder = import.meta.dirname
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }

/** Builds the tracker files, by file name in dist/. The build is deterministic. */
export async function builtFiles(): Promise<Record<string, string>> {
  const module = join(folder, 'src/tracker.ts')
  return {
    'tracker.js': await bundle(join(folder, 'src/script.ts'), 'iife'),
    'tracker.mjs': await bundle(module, 'es'),
    'tracker.d.mts': isolatedDeclarationSync(module, readFileSync(module, 'utf8')).code,
  }
}

async function bundle(input: string, format: 'iife' | 'es'): Promise<string> {
  const { output } = await build({
    input,
    platform: 'browser',
    write: false,
    logLevel: 'warn',
    transform: { target: 'es2020', define: { VERSION: JSON.stringify(version) } },
    output: { format, minify: true, comments: false },
  })
  return output[0].code
}

if (import.meta.main) {
  const files = await builtFiles()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'dist', name), text)
  // A released script never changes, because pages reference it by hash.
  if (process.argv.includes('--release')) {
    mkdirSync(join(folder, 'released'), { recursive: true })
    writeFileSync(join(folder, 'released', `${version}.js`), files['tracker.js'] as string)
  }
}
