import { join } from 'node:path'
import { build } from 'rolldown'

/** Bundles the API client under the global name `tributary`; returns the code and its source files. */
export async function bundleClient(): Promise<{ code: string; files: string[] }> {
  const { output } = await build({
    input: join(import.meta.dirname, '../src/client.ts'),
    platform: 'browser',
    write: false,
    logLevel: 'warn',
    transform: { target: 'es2022' },
    output: { format: 'iife', name: 'tributary', minify: true, comments: false },
  })
  return { code: output[0].code, files: output[0].moduleIds }
}
