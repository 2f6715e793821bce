import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSource } from './floors/source.ts'
import { checkFloors, type Rule, rules } from './floors.ts'

type Files = Record<string, string>

test('the project follows every layout rule', () => {
  const cwd = join(import.meta.dirname, '../..')
  const paths = globSync('{contract,server,dashboard,cli,tracker,engines,e2e,bench,.ci}/**/*.{ts,tsx,sql}', {
    cwd,
    exclude: ['**/node_modules/**'],
  })
  const files = new Map(paths.map((path) => [path, readFileSync(join(cwd, path), 'utf8')]))
  const complaints = checkFloors(files).map(
    ({ rule, file, line, message }) => `${rule} ${file}:${line ?? 1} ${message}`,
  )
  expect(complaints.length, complaints.join('\n')).toBe(0)
})

/** A small project that follows every rule; each case below changes one or two of its files. */
const sound: Files = {
  '/contract/src/common.ts': "import { z } from 'zod'\nexport const id = z.string()",
  '/contract/src/links.ts': "import { id } from './common.ts'\nexport const link = id",
  '/contract/src/index.ts': "import { link } from './links.ts'\nexport const operations = [link]",
  '/server/migrations/postgres/0001_links.sql': 'CREATE TABLE links (workspace_id text, id text);',
  '/server/migrations/postgres/0002_workspaces.sql': 'create table if not exists workspaces (id text);',
  '/server/migrations/clickhouse/0001_events.sql': 'CREATE TABLE {table:events} (workspace_id String);',
  'main.ts': "const role = await import('./roles/api.ts')\nawait role.start()",
  'roles/api.ts': "import { linksRoutes } from '../features/links/routes.ts'\nexport const start = () => linksRoutes",
  'roles/redirect.ts': "import { go } from '../features/redirect/routes.ts'\nexport const start = () => go",
  'platform/config.ts': 'export const config = () => process.env.PORT',
  'platform/http.ts': "import { Hono } from 'hono'\nexport const serve = () => new Hono()",
  'features/links/routes.ts':
    "import { link } from '@tributary/contract/links'\nimport { getLink } from './service.ts'",
  'features/links/service.ts': "import { selectLink } from './store.ts'\nexport const getLink = selectLink",
  'features/links/store.ts': "export const selectLink = (db, workspaceId) => db.selectFrom('links').where(workspaceId)",
  'features/links/messages.ts': "import { z } from 'zod'\nexport const linkChanged = z.object({})",
  'features/redirect/routes.ts': "import { createServer } from 'node:http'\nimport { findLink } from './cache.ts'",
  'features/redirect/service.ts': 'export const open = 1',
  'features/redirect/cache.ts': "import { getLink } from '../links/service.ts'\nexport const findLink = getLink",
}

const importing = (target: string) => `import { thing } from '${target}'\nexport const other = thing`
const lines = (count: number, first = 'const first = 1') => `${first}\n${'// line\n'.repeat(count - 1)}`
const links = (content: string): Files => ({ 'features/links/service.ts': content })
const events = (content: string): Files => ({ 'features/events/store.ts': content })
const eventsWhere: Files = { 'features/events/where.ts': 'const where = (workspaceId) => workspaceId' }
const select = 'export const find = (workspaceId) => `select id from links where workspace_id = ${workspaceId}`'

/** For each rule, an example that breaks only this rule, and a similar one that breaks none. `a < b`: file a imports b. */
const cases: Record<Rule, [broken: string | Files, right: string | Files][]> = {
  'imports-go-down': [
    ['platform/log.ts < ../features/links/service.ts', 'platform/log.ts < ./config.ts'],
    ['features/links/slug.ts < ../../roles/api.ts', 'features/links/slug.ts < ../../platform/config.ts'],
    ['roles/worker.ts < ../main.ts', 'roles/worker.ts < ../features/links/service.ts'],
    ['maintenance/clicks.ts < ../commands/verify.ts', 'maintenance/clicks.ts < ../platform/config.ts'],
    ['platform/ids.ts < ../../test/build.ts', 'platform/ids.test.ts < ../../test/build.ts'],
    [
      { 'platform/clock.ts': "export const clock = () => import('../features/links/service.ts')" },
      { 'platform/clock.ts': "// import('../roles/api.ts')\nexport const clock = 'import(\"../roles/api.ts\")'" },
    ],
  ],
  'contract-alone': [
    ['/contract/src/tags.ts < ../../server/src/platform/http.ts', '/contract/src/tags.ts < ./common.ts'],
    ['/contract/src/tags.ts < pino', '/contract/src/tags.ts < zod'],
    ['/contract/src/tags.ts < hono', '/server/src/platform/http.ts < hono'],
    [
      '/contract/src/tags.ts < @asteasolutions/zod-to-openapi',
      '/contract/src/openapi.ts < @asteasolutions/zod-to-openapi',
    ],
    ['/contract/src/tags.ts < node:fs', '/contract/src/openapi.ts < node:fs'],
  ],
  'clients-know-only-contract': [
    ['/dashboard/src/a.tsx < @tributary/server/platform/ids', '/dashboard/src/a.tsx < @tributary/contract/client'],
    [
      '/dashboard/src/a.tsx < @tributary/contract/links',
      { '/dashboard/src/a.tsx': "import type { Link } from '@tributary/contract/links'\nexport type A = Link" },
    ],
    ['/cli/src/main.ts < ../../server/src/main.ts', '/cli/src/main.ts < ./output.ts'],
    ['/tracker/src/main.ts < zod', '/tracker/src/main.ts < ./cookie.ts'],
  ],
  'parts-know-no-nouns': [
    ['/dashboard/src/ui/table.tsx < ../features/links/row.tsx', '/dashboard/src/ui/table.tsx < ./button.tsx'],
    ['/dashboard/src/charts/line.tsx < ../app/call.ts', '/dashboard/src/features/links/row.tsx < ../../app/call.ts'],
  ],
  'faces-only': [
    ['features/redirect/cache.ts < ../links/store.ts', 'features/redirect/cache.ts < ../links/messages.ts'],
    ['commands/verify.ts < ../features/links/tags-store.ts', 'features/links/service.ts < ./tags-store.ts'],
    ['features/redirect/cache.ts < ../links/bulk.ts', 'features/links/service.ts < ./bulk.ts'],
    ['commands/verify.ts < ../features/links/store.ts', 'commands/verify.ts < ../features/links/service.ts'],
    ['commands/verify.ts < ../maintenance/store.ts', 'commands/verify.ts < ../maintenance/clicks.ts'],
    ['maintenance/clicks.ts < ../features/links/store.ts', 'maintenance/clicks.ts < ../features/links/service.ts'],
    ['maintenance/clicks.ts < ../features/links/bulk.ts', 'maintenance/clicks.ts < ../features/links/messages.ts'],
    ['features/links/bulk.ts < ../../maintenance/clicks.ts', 'roles/worker.ts < ../maintenance/jobs.ts'],
    ['features/links/bulk.ts < ../../maintenance/service.ts', 'maintenance/jobs.ts < ./rewinds.ts'],
  ],
  'redirect-alone': [
    ['roles/redirect.ts < ../features/links/routes.ts', 'roles/redirect.ts < ../features/redirect/routes.ts'],
  ],
  'routes-duty': [
    ['features/links/routes.ts < ./store.ts', 'features/links/routes.ts < ./service.ts'],
    ['features/redirect/routes.ts < ../links/service.ts', 'features/redirect/routes.ts < ./cache.ts'],
    ['features/links/routes.ts < ../../platform/postgres.ts', 'features/links/routes.ts < ../../platform/http.ts'],
  ],
  'jobs-duty': [
    ['features/redirect/jobs.ts < ../links/service.ts', 'features/redirect/jobs.ts < ../links/messages.ts'],
    ['features/links/jobs.ts < ./store.ts', 'features/links/jobs.ts < ./service.ts'],
    ['features/links/jobs.ts < ../../platform/http.ts', 'features/links/jobs.ts < ../../platform/jobs.ts'],
  ],
  'service-duty': [
    ['features/links/service.ts < ../../platform/http.ts', 'features/links/service.ts < ../../platform/errors.ts'],
    ['features/links/service.ts < hono', 'features/links/service.ts < uuid'],
    ['features/links/bulk.ts < node:http', 'features/links/bulk.ts < node:crypto'],
    ['features/links/bulk.ts < ./routes.ts', 'features/links/bulk.ts < ./store.ts'],
  ],
  'store-duty': [
    ['features/redirect/store.ts < ../links/service.ts', 'features/redirect/store.ts < ../../platform/postgres.ts'],
    ['features/redirect/store.ts < ./service.ts', 'features/redirect/store.ts < ./where.ts'],
    ['features/redirect/tags-store.ts < ./service.ts', 'features/redirect/tags-store.ts < ./store.ts'],
    ['features/redirect/store.ts < ../../platform/http.ts', 'features/redirect/store.ts < kysely'],
  ],
  'messages-duty': [
    ['features/links/messages.ts < ../../platform/nats.ts', 'features/links/messages.ts < @tributary/contract/links'],
    ['features/links/messages.ts < ./store.ts', 'features/links/messages.ts < zod'],
  ],
  'service-per-feature': [
    [{ 'features/qr/routes.ts': '' }, { 'features/qr/routes.ts': '', 'features/qr/service.ts': '' }],
    [{ 'features/log/jobs.ts': '' }, { 'features/log/purge.ts': '' }],
  ],
  'noun-in-platform': [
    [
      { 'platform/seal.ts': '', 'features/seals/store.ts': '' },
      { 'platform/seal.ts': '', 'features/sealing/store.ts': '' },
    ],
    [
      { 'platform/rate-limit.ts': '', 'features/rate-limits/service.ts': '' },
      { 'platform/log.ts': '', 'features/log/service.ts': '' },
    ],
    ['platform/ids.ts < @tributary/contract/links', 'platform/ids.ts < @tributary/contract/common'],
    [{ 'platform/nats.ts': 'const linkSubject = 1' }, { 'platform/nats.ts': 'const subject = config.LINK_SUBJECT' }],
    [{ 'platform/nats.ts': "const subject = 'links.>'" }, { 'platform/nats.ts': '// links\nconst blinks = 1' }],
    [
      { 'platform/metrics.ts': "counter('tributary_clicks_lost_total')" },
      { 'platform/metrics.ts': "query('tributary_clickhouse_seconds')" },
    ],
    [{ 'platform/otlp.ts': 'const redirect = 1' }, { 'platform/otlp.ts': 'const links = 1' }],
    [{ 'platform/seal.ts': 'const links = 1' }, { 'platform/locks.ts': 'const links = 1' }],
  ],
  'no-file-cycle': [
    [
      { 'features/links/a.ts': importing('./b.ts'), 'features/links/b.ts': importing('./a.ts') },
      { 'features/links/a.ts': importing('./b.ts'), 'features/links/b.ts': importing('./c.ts') },
    ],
    [
      {
        'platform/ids.ts': importing('./log.ts'),
        'platform/log.ts': importing('./clock.ts'),
        'platform/clock.ts': importing('./ids.ts'),
      },
      {
        'platform/ids.ts': importing('./log.ts') + importing('./clock.ts'),
        'platform/log.ts': importing('./clock.ts'),
      },
    ],
  ],
  'no-call-cycle': [
    ['features/links/service.ts < ../redirect/service.ts', 'features/links/jobs.ts < ../redirect/messages.ts'],
    [
      {
        'features/tags/service.ts': importing('../folders/service.ts'),
        'features/folders/service.ts': importing('../domains/service.ts'),
        'features/domains/check.ts': importing('../tags/service.ts'),
      },
      {
        'features/tags/service.ts': importing('../folders/service.ts') + importing('../domains/service.ts'),
        'features/folders/service.ts': importing('../domains/service.ts'),
        'features/domains/service.ts': '',
        'features/domains/jobs.ts': importing('../tags/messages.ts'),
      },
    ],
  ],
  'sql-in-stores': [
    [links("const text = 'SELECT id FROM links'"), links("const advice = 'Select a folder from the list'")],
    [links('const text = `select id\n from links where id = ${id}`'), links('// SELECT id FROM links')],
    [links("const text = 'insert into links values (1)'"), links("const text = 'an insert into links'")],
    [links("const text = 'update links set key = 1'"), links("const text = 'update links'")],
    [{ 'maintenance/verify.ts': "'select 1 from links'" }, { 'maintenance/verify.ts': "'links'" }],
    [links('const now = sql`now()`'), links('const sql = now')],
    [links('const now = sql<Date>`now()`'), { 'features/tags/store.ts': 'const now = sql<Date>`now()`' }],
    [links("const found = db.selectFrom('links')"), { 'features/tags/where.ts': "db.selectFrom('tags')" }],
    ['features/links/bulk.ts < kysely', 'features/links/store.ts < kysely'],
    [links('const now = sql`now()`'), { 'features/links/tags-store.ts': 'const now = sql`now()`' }],
    [{ 'platform/log.ts': "'delete from outbox'" }, { 'platform/outbox.ts': "'delete from outbox'" }],
  ],
  'one-owner-per-table': [
    [{ 'features/redirect/store.ts': select }, { 'features/links/where.ts': select }],
    [{ 'features/redirect/store.ts': select }, { 'features/redirect/store.ts': 'const name = `links${index}`' }],
    [
      { 'platform/outbox.ts': "'select id from events'", 'features/events/where.ts': "'select id from events'" },
      { 'platform/outbox.ts': "'select id from outbox'" },
    ],
    [{ 'maintenance/store.ts': select }, { 'maintenance/store.ts': "'select version() from system.one'" }],
    [
      { 'features/redirect/store.ts': "const find = (workspaceId) => db.selectFrom('links as l')" },
      {
        '/server/migrations/clickhouse/0002_links.sql': 'CREATE TABLE links (workspace_id String) ENGINE = Log;',
        'features/redirect/store.ts': "const find = (workspaceId) => db.selectFrom('links as l')",
      },
    ],
  ],
  'workspace-first': [
    [events('const read = (id) => `select 1 from events where id = ${id}`'), events('const read = (id) => 1')],
    [
      { 'features/links/store.ts': `${select}\nconst all = (db: Db) => db.selectFrom('links')` },
      { 'features/links/store.ts': `${select}\nconst all = (db: AllWorkspacesDb) => db.selectFrom('links')` },
    ],
    [
      { 'features/links/store.ts': `${select}\nconst tables = sql\`from links\`` },
      { 'features/links/store.ts': `${select}\nconst tablesFragment = sql\`from links\`` },
    ],
    [
      events("const read = (id) => db.selectFrom('events').where(id)"),
      { 'features/workspaces/store.ts': "const find = (id) => db.selectFrom('workspaces').where(id)" },
    ],
    [
      { ...events("const read = (id) => db.selectFrom('events').where(id)"), ...eventsWhere },
      { ...events("const read = (where: Where) => db.selectFrom('events').where(where)"), ...eventsWhere },
    ],
    [
      events("type Row = { id: string }\nconst add = (row: Row) => insert(db, 'events', row)"),
      events("type Row = { workspace_id: string }\nconst add = (row: Row) => insert(db, 'events', row)"),
    ],
    [
      events("type Row = { workspace_id: string }\nconst all = (): Row[] => db.selectFrom('events')"),
      events(
        "type Row = { workspace_id: string }\ntype New = Omit<Row, 'id'>\nconst add = (row: New) => insert('events')",
      ),
    ],
  ],
  'known-places': [
    [{ 'boot.ts': '' }, { 'commands/boot.ts': '' }],
    [{ 'operations/verify.ts': '' }, { 'maintenance/verify.ts': '' }],
  ],
  'platform-closed': [[{ 'platform/strings.ts': '' }, { 'platform/nats.ts': '', 'platform/nats-away.test.ts': '' }]],
  'feature-files': [
    [{ 'features/links/schema.ts': '' }, { 'features/links/slug.ts': '' }],
    [{ 'features/links/bulk/store.ts': '' }, { 'features/links/bulk/rows.ts': '' }],
    [{ 'features/ingest/steps/geo/place.ts': '' }, { 'features/ingest/steps/place.ts': '' }],
    [{ 'maintenance/archive/store.ts': '' }, { 'maintenance/archive/pack.ts': '' }],
  ],
  'forbidden-names': [
    ...['lib', 'utils', 'helpers', 'shared', 'common', 'core', 'legacy', 'v2'].map((name): [Files, Files] => [
      { [`features/links/${name}/slug.ts`]: '' },
      { 'features/links/slugs/slug.ts': '' },
    ]),
    ...['types', 'constants', 'utils', 'helpers', 'common'].map((name): [Files, Files] => [
      { [`/engines/${name}.ts`]: '' },
      { '/contract/src/common.ts': '' },
    ]),
  ],
  'no-barrels': [
    [{ '/engines/index.ts': '' }, { '/contract/src/index.ts': '' }],
    [{ '/engines/all.ts': "export * from './nats.ts'" }, '/engines/all.ts < ./nats.ts'],
    [{ 'features/links/service.ts': "import { a } from './a.ts'\nexport { a }" }, links('export const a = 1')],
    [{ '/engines/all.ts': "export { a } from './nats.ts'" }, { '/engines/all.ts': "export { a }\nconst from = './b'" }],
  ],
  'file-size': [
    [{ 'features/links/slug.ts': lines(401) }, { 'features/links/slug.ts': lines(400) }],
    [{ '/e2e/click.test.ts': lines(401) }, { '/e2e/click.test.ts': lines(401, '// One table, better read whole.') }],
  ],
  'environment-in-config': [
    [
      { 'platform/log.ts': 'const level = process.env.LEVEL' },
      { 'platform/config.ts': 'const level = process.env.LEVEL' },
    ],
    [
      { 'roles/api.ts': "import { env } from 'node:process'" },
      { 'roles/api.ts': "const advice = 'set process.env.LEVEL'" },
    ],
    [{ '/cli/src/output.ts': 'const color = process.env.A' }, { '/cli/src/config.ts': 'const color = process.env.A' }],
  ],
  'no-base-class': [
    [
      { 'features/links/slug.ts': 'class Slug extends Base {}' },
      { 'platform/errors.ts': 'class AppError extends Error {}' },
    ],
    [{ 'platform/log.ts': 'const log = Log.getInstance()' }, { 'platform/log.ts': "const log = 'getInstance'" }],
  ],
  'connects-on-import': [
    [
      { 'platform/postgres.ts': 'export const pool = new Pool()' },
      { 'platform/postgres.ts': 'const open = () => new Pool()' },
    ],
    [
      { 'platform/nats.ts': 'const nats = await connect()' },
      { 'platform/nats.ts': 'const open = async () => await connect()' },
    ],
  ],
  'outgoing-network': [
    [{ 'features/links/title.ts': 'const title = fetch(url)' }, { 'features/links/title.ts': 'app.fetch(request)' }],
    ['features/links/title.ts < undici', 'platform/http.ts < undici'],
    [{ 'features/redirect/routes.ts': "import { get } from 'node:http'" }, 'features/redirect/routes.ts < node:http'],
    [{ 'roles/worker.ts': 'http.request({})' }, { '/contract/src/client.ts': 'const answer = fetch(url)' }],
  ],
}

function findViolations(change: string | Files) {
  const [path = '', target = ''] = typeof change === 'string' ? change.split(' < ') : []
  const changed = typeof change === 'string' ? { [path]: importing(target) } : change
  const files = Object.entries({ ...sound, ...changed })
  return checkFloors(
    new Map(files.map(([path, content]) => [path.replace(/^(?!\/)/, '/server/src/').slice(1), content])),
  )
}

test('a small project that follows the rules has no violation', () => {
  expect(findViolations({})).toEqual([])
})

describe.each(rules)('%s', (rule) => {
  test.each(cases[rule])('%j', (broken, right) => {
    expect(new Set(findViolations(broken).map((violation) => violation.rule))).toEqual(new Set([rule]))
    expect(findViolations(right)).toEqual([])
  })
})

test('a violation says what is wrong and where', () => {
  expect(findViolations({ '/contract/src/tags.ts': `// a tag\n\n${importing('pino')}` })).toEqual([
    {
      rule: 'contract-alone',
      file: 'contract/src/tags.ts',
      line: 3,
      message: 'imports pino, which is not allowed in the contract (only itself and zod)',
    },
  ])
})

describe('parsing a source file', () => {
  test.each([
    ['comments', "// it's\n/* `x` */ code", '       \n          code'],
    ['strings', `a('it\\'s', "q")`, `a('     ', " ")`],
    ['templates with placeholders', 'a(`x ${b({ c: `y` })} z`) d', 'a(`  ${b({ c: ` ` })}  `) d'],
    ['regular expressions', "a.match(/['\"/]\\/`/) + b / c / 'd'", "a.match(/        /) + b / c / ' '"],
  ])('blanks out %s', (_, content, code) => {
    expect(readSource('a.ts', content).code).toBe(code)
  })
})
