import { browserOperations, operations } from '@tributary/contract/index'
import type { Operation } from '@tributary/contract/operation'

export type WorstBody = { method: string; path: string; body: string }

/** For every operation that takes a body: the deepest, the widest and the longest one. */
export function worstBodies(): WorstBody[] {
  const taking = [...operations, ...browserOperations].filter(({ body }) => body.def.type !== 'undefined')
  return taking.flatMap(({ method, path, bodyLimit }: Pick<Operation, 'method' | 'path' | 'bodyLimit'>) => {
    const half = Math.floor(bodyLimit / 2) - 10
    const bodies = [
      '['.repeat(half) + ']'.repeat(half),
      `{"metadata":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`,
      `{${Array.from({ length: Math.floor(bodyLimit / 16) }, (_, index) => `"k${index}":1`).join()}}`,
      `[${'{"geo":{"DE":1}},'.repeat(Math.floor(bodyLimit / 20))}1]`,
      `{"url":"${'x'.repeat(bodyLimit - 100)}"}`,
      `{"url":"${'x'.repeat(bodyLimit + 1)}"}`,
    ]
    const names = path.replaceAll(/\{\w+\}/g, 'unknown')
    return bodies.map((body) => ({ method: method.toUpperCase(), path: names, body }))
  })
}
