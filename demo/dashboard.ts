import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runNpmScript } from './npm-script.ts'

const folder = join(import.meta.dirname, '../dashboard')
const page = join(folder, 'dist/share.html')

/** Builds the dashboard, unless its last build is newer than every source file. */
export async function buildDashboard(): Promise<void> {
  const names = globSync('{index.html,share.html,package.json,*.ts,public/**,src/**/*.*}', { cwd: folder })
  const newest = Math.max(...names.map((name) => statSync(join(folder, name)).mtimeMs))
  if ((statSync(page, { throwIfNoEntry: false })?.mtimeMs ?? 0) < newest) await runNpmScript('dashboard')
}

/** Builds the dashboard if there is none. A failure is reported and ends nothing: the API works without it. */
export async function ensureDashboard(say: (line: string) => void): Promise<void> {
  if (existsSync(page)) return
  say('Building the dashboard, once …')
  await runNpmScript('dashboard').catch((error: Error) => say(`The dashboard was not built: ${error.message}`))
}
