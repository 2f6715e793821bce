import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const project = join(import.meta.dirname, '..')

/** Runs a script of package.json; throws with its output if it fails. */
export async function runNpmScript(name: string): Promise<void> {
  // Tests run with NODE_ENV=test, with which Vite would bundle the development build of React.
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)('npm', ['run', '--silent', name], { cwd: project, env })
}
