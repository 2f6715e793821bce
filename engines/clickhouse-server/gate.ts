export type Gate = { enter(): Promise<void>; leave(): void }

// Limits concurrency: `size` callers run, up to `queueLength` wait in order, and the rest get `refusal()`.
export function createGate(size: number, queueLength: number, refusal: () => Error): Gate {
  let inside = 0
  const waiting: (() => void)[] = []

  return {
    async enter() {
      if (inside < size) {
        inside++
        return
      }
      if (waiting.length >= queueLength) throw refusal()
      await new Promise<void>((letIn) => waiting.push(letIn))
    },
    leave() {
      const letIn = waiting.shift()
      if (letIn) letIn()
      else inside--
    },
  }
}
