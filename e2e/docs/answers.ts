import { expect } from 'vitest'
import type { Block } from './blocks.ts'

/** Fails unless each command printed the answer that its page shows. In an answer, `…` stands for any text. */
export function expectAnswers(blocks: Block[], output: string): void {
  for (const { page, line, answer } of blocks) {
    if (answer === undefined) continue
    const [, printed = ''] = output.split(`== ${page}.md:${line}\n`)
    const [own = ''] = printed.split(/== \S+\.md:\d+\n/)
    const where = `${page}.md:${line} printed\n${own}`
    const shown = readJson(answer)
    if (shown === undefined) expect(own.replaceAll('\r', '').trim(), where).toMatch(wildcard(answer.trim()))
    else expect(readJson(own), where).toEqual(allowAny(shown))
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Replaces each text with `…` in a JSON value by a matcher. */
function allowAny(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('…') ? expect.stringMatching(wildcard(value)) : value
  if (Array.isArray(value)) return value.map(allowAny)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, allowAny(each)]))
}

function wildcard(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}$`)
}
