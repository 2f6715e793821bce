export type Gate = { enter(): Promise<void>; leave(): void }

// Lets `places` callers in at a time; further ones wait in order, and beyond `queueLength` are refused with `refusal()`.
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
