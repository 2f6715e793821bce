import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Figures, findFigure, readFigures } from '../server/src/maintenance/sizing/figures.ts'
import { renderAll, renderResults } from './render.ts'

const measured = { date: '2026-01-01', machine: '2 cores' }
const figures: Figures = {
  links: {
    ...measured,
    tables: [{ title: 'links', columns: ['p50 ms', 'p95 ms'], rows: [['newest 100', 1.5, '2.0']] }],
  },
}

test('bench/RESULTS.md and the scaling guide are written from bench/figures.json', () => {
  for (const { file, text } of renderAll(readFigures())) expect(readFileSync(file, 'utf8')).toBe(text)
})

test('a figure is found by its row and column', () => {
  expect(findFigure(figures, 'links', 'newest 100', 'p95 ms')).toBe('2.0')
  expect(() => findFigure(figures, 'links', 'newest 100', 'p99 ms')).toThrow('npm run bench:links -- --keep')
  expect(() => findFigure(figures, 'redirect', 'ack', 'req/s')).toThrow('npm run bench:redirect -- --keep')
})

test('the results have a section for each bench', () => {
  expect(renderResults(figures)).toContain(`## \`npm run bench:links\`

2026-01-01, 2 cores

| links | p50 ms | p95 ms |
| --- | --- | --- |
| newest 100 | 1.5 | 2.0 |
`)
})
