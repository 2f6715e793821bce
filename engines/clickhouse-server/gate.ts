export type Gate = { enter(): Promise<void>; leave(): void }

// Runs `places` callers at a time; further ones queue in order, and beyond `queueLength` get `refusal()`.
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
