import { operations } from '@tributary/contract/index'
import type { BodyLimits } from '@tributary/contract/operation'

export type WorstBody = { method: string; path: string; body: string }
type Limits = BodyLimits & { method: string; path: string }

const allowedDepth = 32

/** Returns the deepest, widest and longest request bodies of every operation, just within the limits and beyond them. */
export function worstBodies(): WorstBody[] {
  const taking = operations
    .filter((operation) => 'body' in operation)
    .filter(({ body }) => body.def.type !== 'undefined')
  return [...taking.flatMap(makeBodies), ...fatLists()]
}

function makeBodies({ method, path, bodyLimit, bodyValues }: Limits): WorstBody[] {
  const half = Math.floor(bodyLimit / 2) - 10
  const [open, close] = ['{"a":'.repeat(allowedDepth - 2), '}'.repeat(allowedDepth - 2)]
  const values = bodyValues - 2 * allowedDepth
  const bodies = [
    '['.repeat(half) + ']'.repeat(half),
    `{"metadata":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`,
    `{${Array.from({ length: Math.floor(bodyLimit / 16) }, (_, index) => `"k${index}":1`).join()}}`,
    `[${'{"geo":{"DE":1}},'.repeat(Math.floor(bodyLimit / 20))}1]`,
    `{"url":"${'x'.repeat(bodyLimit - 100)}"}`,
    `{"url":"${'x'.repeat(bodyLimit + 1)}"}`,
    `{"metadata":${open}"${'é'.repeat(half - 200)}"${close}}`,
    `{"metadata":${open}[${Array(values).fill('1').join()}]${close}}`,
    `{${Array.from({ length: Math.min(values, Math.floor(bodyLimit / 12)) }, (_, index) => `"k${index}":[]`).join()}}`,
  ]
  const names = path.replaceAll(/\{\w+\}/g, 'unknown')
  return bodies.map((body) => ({ method: method.toUpperCase(), path: names, body }))
}

/** Lists of a hundred links, each as large as the limit allows. */
function fatLists(): WorstBody[] {
  const url = `https://example.com/${'y'.repeat(10_000)}`
  const body = JSON.stringify(Array(100).fill({ url }))
  return Array(4).fill({ method: 'POST', path: '/links/bulk', body })
}
