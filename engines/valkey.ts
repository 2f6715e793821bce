import type { EngineProgram } from './engine-process.ts'
import { firstAnswer } from './port.ts'
import { findOnPath } from './programs.ts'

export async function findValkey(): Promise<string | undefined> {
  const [program] = [...(await findOnPath('valkey-server')), ...(await findOnPath('redis-server'))]
  return program
}

export async function prepareValkey(folder: string, port: number): Promise<EngineProgram> {
  const command = await findValkey()
  if (!command) throw new Error('valkey: neither valkey-server nor redis-server is on PATH; run `npm run setup`')
  return {
    name: 'valkey',
    url: `redis://127.0.0.1:${port}`,
    folder,
    command,
    args: ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', '', '--appendonly', 'no'],
    stopSignal: 'SIGTERM',
    answers: () => firstAnswer(port, 'PING\r\n', /^\+PONG/),
  }
}
