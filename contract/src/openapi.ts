import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { OpenAPIHono } from '@hono/zod-openapi'
import { browserOperations, openOperations, operations, streamOperations } from './index.ts'
import { browserRouteOf, openRouteOf, routeOf, streamRouteOf } from './operation.ts'
import { triggers, webhookRouteOf } from './webhooks.ts'

const file = fileURLToPath(new URL('../openapi.json', import.meta.url))

export function openApiDocument(serverUrl: string) {
  const app = new OpenAPIHono()
  const registry = app.openAPIRegistry
  registry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  for (const operation of operations) registry.registerPath(routeOf(operation))
  for (const operation of openOperations) registry.registerPath(openRouteOf(operation))
  for (const operation of streamOperations) registry.registerPath(streamRouteOf(operation))
  for (const operation of browserOperations) registry.registerPath(browserRouteOf(operation))
  for (const trigger of triggers) registry.registerWebhook(webhookRouteOf(trigger))
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Tributary API',
      version: '0.0.1',
      description:
        'Short links, their clicks, and the leads and sales that follow. Send a key of your workspace in the header `Authorization: Bearer <key>`. [Guides](/docs/) · [Errors](/docs/errors)',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: serverUrl }],
  })
  for (const path of Object.values(document.paths ?? {})) {
    for (const { parameters } of Object.values(path) as { parameters?: Parameter[] }[]) parameters?.forEach(flag)
  }
  return document
}

type Parameter = { deprecated?: boolean; schema?: { deprecated?: boolean } }

/** OpenAPI has `deprecated` on the parameter; zod can only put it into its schema. */
function flag(parameter: Parameter): void {
  if (!parameter.schema?.deprecated) return
  const { deprecated, ...schema } = parameter.schema
  Object.assign(parameter, { deprecated, schema })
}

if (import.meta.main) {
  const text = `${JSON.stringify(openApiDocument('https://api.example.com'), null, 2)}\n`
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    console.error('contract/openapi.json is stale. Run: npm run openapi')
    process.exitCode = 1
  }
}
