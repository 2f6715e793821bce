import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { endpoints } from '../src/endpoints.ts'
import { operations } from '../src/index.ts'
import { bundleClient } from './bundle.ts'

const { code, files } = await bundleClient()

test('the browser client has at most 5 kB compressed', () => {
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(5_000)
})

test('the browser client contains the endpoint table, but neither zod nor a server framework', () => {
  expect(files.map((file) => basename(file)).sort()).toEqual(['client.ts', 'endpoints.ts'])
  expect(code).not.toMatch(/\b(zod|hono)\b|_zod/i)
})

test('the table of endpoints has every operation with its method and path', () => {
  const stated = operations.map(({ id, method, path }) => [id, `${method.toUpperCase()} ${path}`])
  expect(endpoints).toEqual(Object.fromEntries(stated))
})
