import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { freePort } from '../../engines/port.ts'
import { eventually } from '../../server/test/stack.ts'

export type Development = AsyncDisposable & { url: string }

/** Starts what `npm run dev --workspace dashboard` starts, in front of the server of the test run. */
export async function openDevelopment(): Promise<Development> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const program = join(import.meta.dirname, '../../node_modules/vite/bin/vite.js')
  const vite = spawn(process.execPath, [program, '--host', '127.0.0.1', '--port', `${port}`, '--strictPort'], {
    cwd: join(import.meta.dirname, '../../dashboard'),
    env: { ...process.env, API_URL: inject('server').api },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await eventually(async () => expect((await fetch(`${url}/app/`)).status).toBe(200), 120_000)
  return {
    url,
    async [Symbol.asyncDispose]() {
      if (vite.exitCode !== null) return
      vite.kill()
      await once(vite, 'exit')
    },
  }
}
