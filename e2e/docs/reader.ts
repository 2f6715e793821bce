import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject, onTestFinished } from 'vitest'
import { createToken } from '../../server/src/features/tokens/service.ts'
import type { Platform } from '../../server/src/platform/context.ts'
import { type BuiltWorkspace, browser, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { visit } from '../../server/test/visit.ts'

/** What a reader of a guide has: a workspace, an API key, a folder, and one click on a link. */
export type Reader = {
  workspace: BuiltWorkspace
  clickId: string
  /** A folder inside the project, so that its npm packages are found. */
  folder: string
  env: Record<string, string>
  /** Replaces the placeholders of a guide with the values of this reader. */
  fill(text: string): string
}

const packages = fileURLToPath(new URL('../../node_modules', import.meta.url))

export async function newReader(platform: Platform): Promise<Reader> {
  const { api, redirect } = inject('server')
  const workspace = await buildWorkspace(platform)
  const folder = await mkdtemp(join(packages, '.docs-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await buildLink(platform, workspace, { key: 'clicked', trackConversion: true })
  const { headers } = await visit(`${redirect}/clicked`, { host: workspace.domain, 'user-agent': browser })
  const clickId = new URL(headers.location ?? '').searchParams.get('trib_id') ?? ''
  const spare = await createToken(platform, { workspaceId: workspace.id, name: 'to be revoked' })
  const rotated = await createToken(platform, { workspaceId: workspace.id, name: 'to be rotated' })
  const values: [RegExp, string][] = [
    [/https:\/\/api\.example\.com/g, api],
    [/trib_…/g, workspace.key],
    [/<cookie trib_id>/g, clickId],
    [/<your (?:id of the )?customer>/g, 'customer-1'],
    [/<your (invoice|order|refund)>/g, '$1-1'],
    [/<id of the key>/g, spare.id],
    [/<id of a machine key>/g, rotated.id],
    [/<workspace>|\bacme\b/g, workspace.slug],
    [/ws_…/g, workspace.id],
    [/ada@example\.com/g, `ada-${randomUUID().slice(0, 8)}@example.com`],
    [/go\.example\.com/g, `go-${randomUUID().slice(0, 8)}.example.com`],
  ]
  return {
    workspace,
    clickId,
    folder,
    env: {
      ...inject('environment'),
      ...{ api, redirect, key: workspace.key, domain: workspace.domain, DOMAIN: workspace.domain },
      ...{ TRIBUTARY_URL: api, TRIBUTARY_KEY: workspace.key, LOG_LEVEL: 'error' },
    },
    fill: (text) => values.reduce((filled, [placeholder, value]) => filled.replaceAll(placeholder, value), text),
  }
}

/** Strips TypeScript types, because Node does not strip types below node_modules. */
export function readJavascript(text: string): string {
  return stripTypeScriptTypes(text, { mode: 'strip' })
}
