import type { ChildProcess } from 'node:child_process'

/** Handles a request from the other process; an exception becomes that request's error. */
export type Answer = (value: unknown) => unknown
export type Channel = {
  /** Sends a request. Fails when the other process fails, times out or disconnects; without `withinMs` it never times out. */
  ask(command: string, value?: unknown, withinMs?: number): Promise<unknown>
  /** Resolves when the other process disconnects. */
  closed: Promise<void>
  close(): void
}

type Command = { command: string; id: number; value?: unknown }
type Reply = { reply: number; value?: unknown; error?: string }
type Waiting = { resolve(value: unknown): void; reject(error: Error): void; timer?: NodeJS.Timeout }

/** Requests and responses between a supervisor and one of its processes, over the IPC channel that `fork` opens. */
export function openChannel(end: ChildProcess | NodeJS.Process, answers: Record<string, Answer>): Channel {
  const waiting = new Map<number, Waiting>()
  let count = 0

  function finish(id: number, error: string | undefined, value?: unknown): void {
    const waiter = waiting.get(id)
    if (!waiter) return
    waiting.delete(id)
    clearTimeout(waiter.timer)
    if (error === undefined) waiter.resolve(value)
    else waiter.reject(new Error(error))
  }

  // The callback prevents an exception when the channel is closed.
  const send = (message: Command | Reply) => end.connected && end.send?.(message, undefined, undefined, () => {})

  async function reply({ command, id, value }: Command): Promise<void> {
    try {
      const answer = Object.hasOwn(answers, command) ? answers[command] : undefined
      if (!answer) throw new Error(`unknown request ${command}`)
      send({ reply: id, value: await answer(value) })
    } catch (error) {
      send({ reply: id, error: (error as Error).message })
    }
  }

  const emitter: NodeJS.EventEmitter = end
  emitter.on('message', (message: Command | Reply) => {
    if ('reply' in message) finish(message.reply, message.error, message.value)
    else void reply(message)
  })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  emitter.once('disconnect', resolve)
  // The other process may have disconnected while this one was loading.
  if (!end.connected) resolve()
  void closed.then(() => {
    for (const id of [...waiting.keys()]) finish(id, 'the other process has ended')
  })

  return {
    closed,
    ask(command, value, withinMs) {
      if (!end.connected) return Promise.reject(new Error('the other process has ended'))
      return new Promise((resolve, reject) => {
        const id = count++
        const timer = withinMs && setTimeout(finish, withinMs, id, `no answer in ${withinMs} ms`)
        waiting.set(id, { resolve, reject, ...(timer && { timer }) })
        send({ command, id, value })
      })
    },
    close() {
      if (end.connected) end.disconnect?.()
    },
  }
}
