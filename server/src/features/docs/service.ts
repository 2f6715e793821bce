import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openApiDocument } from '@tributary/contract/openapi'
import { type ErrorCode, errorCodes } from '@tributary/contract/operation'
import { errorPage } from './pages.ts'

// @scalar/api-reference does not export its browser bundle, so find the file next to the exported entry.
const referenceBundle = new URL('./browser/standalone.js', import.meta.resolve('@scalar/api-reference'))
/** The documentation site: the output folder of `npm run docs`. */
export const builtSite = fileURLToPath(new URL('../../../../docs/dist', import.meta.url))

export function readDocument(apiUrl: string): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify(openApiDocument(apiUrl)))
}

export function readReferenceScript(): Promise<Buffer<ArrayBuffer>> {
  return readFile(referenceBundle)
}

/** Reads the documentation site's home page; undefined when the site was not built. */
export function findSite(folder: string): { home: string; readNotFound(): Promise<string> } | undefined {
  const home = join(folder, 'index.html')
  if (!existsSync(home)) return undefined
  return { home: readFileSync(home, 'utf8'), readNotFound: () => readFile(join(folder, '404.html'), 'utf8') }
}

export function explainError(code: string): string | undefined {
  return errorCodes.includes(code as ErrorCode) ? errorPage(code as ErrorCode) : undefined
}
