import { existsSync } from 'node:fs'
import { builtSite } from '../server/src/features/docs/service.ts'
import { runNpmScript } from './npm-script.ts'

/** Builds the documentation if it is missing. A failure is reported and ends nothing: all else works without it. */
export async function ensureDocs(say: (line: string) => void): Promise<void> {
  if (existsSync(builtSite)) return
  say('Building the documentation, once …')
  await runNpmScript('docs').catch((error: Error) => say(`The documentation was not built: ${error.message}`))
}
