import { AsyncLocalStorage } from 'node:async_hooks'
import { Kysely, type LogEvent, PostgresDialect, type PostgresPool, sql } from 'kysely'
import pg from 'pg'
import { type Config, countVisitorProcesses, servesVisitorsOnly } from './config.ts'
import { describeProblem, type Tracing, traced } from './tracing.ts'

/** The database, without table types: each store.ts adds its own with `db.withTables<{ links: LinkRow }>()`. */
// biome-ignore lint/complexity/noBannedTypes: no table is known here
export type Db = Kysely<{}>
/** Marks functions of workers, operators and visitors, whose statements read all workspaces. */
export type AllWorkspacesDb = Db

pg.types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text))

/** A finished SQL statement; `text` has `$1` instead of values. */
type Statement = { text: string; durationMs: number; problem?: string }

/** Who uses the pool: requests have short timeouts, jobs and commands long ones, because they read whole tables. */
export type PoolUse = 'serving' | 'jobs' | 'command'
const patience: Record<PoolUse, number> = { serving: 1, jobs: 4, command: 40 }

/** Returns the pool type of this process: `jobs` with the worker role, else `serving`. */
export function roleUse({ ROLES }: Pick<Config, 'ROLES'>): PoolUse {
  return ROLES.includes('worker') ? 'jobs' : 'serving'
}

/** PostgreSQL ends a session and its locks 25 s after the client's host lost its power; by default after two hours. */
const keepalives = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 }

// Error messages of `pg` for: no connection became free, or a new connection timed out.
const connectTimeouts = [
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'timeout expired',
]
const readTimeout = 'Query read timeout'

/** Thrown when no PostgreSQL connection became free, or a visitor's lookup got no response, in time. */
export class PoolBusyError extends Error {}

const tenants = new AsyncLocalStorage<string>()
const openTransactions = new AsyncLocalStorage<true>()
/** Databases on which a network call inside a transaction throws. */
const guarded = new WeakSet<Db>()

/** Counts the connections of `work` against this workspace, which may use half of the pool. */
export function asTenant<R>(workspaceId: string, work: () => Promise<R>): Promise<R> {
  return tenants.run(workspaceId, work)
}

/**
 * Throws inside a transaction, in development and tests: a network call there occupies a connection that others need.
 * With `inRequestsOnly` it allows jobs, because workers read ClickHouse inside a transaction on purpose.
 */
export function refuseInTransaction(what: string, { inRequestsOnly = false } = {}): void {
  if (!openTransactions.getStore() || (inRequestsOnly && tenants.getStore() === undefined)) return
  throw new Error(`${what} is called inside a transaction. Call it before the transaction begins.`)
}

export function openPostgres(
  config: Config,
  use: PoolUse,
  onStatement?: (statement: Statement) => void,
  /** Awaited for each new connection before its first use. */
  onConnect?: (client: pg.ClientBase) => Promise<void>,
  connections: number = poolSize(config),
): Db {
  const statementMs = config.POSTGRES_STATEMENT_TIMEOUT_MS * patience[use]
  const pool = new pg.Pool({
    connectionString: config.POSTGRES_URL,
    max: connections,
    connectionTimeoutMillis: config.POSTGRES_WAIT_MS,
    // Client-side timeout for a server that does not respond at all; a working one cancels the statement itself.
    query_timeout: statementMs + 5_000,
    idleTimeoutMillis: 30_000,
    application_name: `tributary ${config.ROLES.join('+')}`,
    keepAlive: true,
    ...(onConnect && { onConnect }),
  })
  // The pool replaces a broken connection, and the query on it fails; without error listeners on idle and busy
  // connections, the error would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    // JIT compilation costs more than our statements gain from it. SET turns it off, because connection poolers reject
    // startup parameters.
    const settings = {
      jit: 'off',
      statement_timeout: statementMs,
      lock_timeout: statementMs,
      idle_in_transaction_session_timeout: 2 * statementMs,
      ...keepalives,
    }
    client.query(formatSettings(settings)).catch(() => {})
  })
  const db: Db = new Kysely({
    dialect: new PostgresDialect({ pool: fairPool(pool, Math.max(1, connections >> 1), config.POSTGRES_WAIT_MS) }),
    ...(onStatement && { log: (event: LogEvent) => onStatement(describeStatement(event)) }),
  })
  if (config.ENVIRONMENT === 'development') guarded.add(db)
  return db
}

export async function postgresVersion(db: AllWorkspacesDb): Promise<string> {
  const { rows } = await sql<{ version: string }>`SELECT current_setting('server_version') AS version`.execute(db)
  return rows[0]?.version ?? ''
}

/** Names of statements by their text. */
const preparedNames = new Map<string, string>()

/** Makes each connection parse and plan this statement once, under a name, instead of each time. Returns the text. */
export function prepareOnce(name: string, text: string): string {
  preparedNames.set(text, name)
  return text
}

type Query = (text: string, values?: unknown[]) => unknown
const preparing = new WeakSet<pg.PoolClient>()

function prepareByName(client: pg.PoolClient): pg.PoolClient {
  if (preparing.has(client)) return client
  preparing.add(client)
  const query = client.query.bind(client) as unknown as Query & ((config: pg.QueryConfig) => unknown)
  const named: Query = (text, values) => {
    const name = preparedNames.get(text)
    const encoded = values?.map(encodeArray)
    return name === undefined ? query(text, encoded) : query({ name, text, values: encoded })
  }
  return Object.assign(client, { query: named })
}

/** Encodes an array of texts, numbers and times several times as fast as `pg`, which encodes all other values. */
function encodeArray(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  const elements: string[] = []
  for (const element of value) {
    if (element === null || element === undefined) elements.push('NULL')
    else if (typeof element === 'bigint' || typeof element === 'number') elements.push(String(element))
    else if (typeof element === 'string') elements.push(quoteElement(element))
    else if (isUsual(element)) elements.push(`"${element.toISOString()}"`)
    else return value
  }
  return `{${elements.join(',')}}`
}

/** Whether a time has a year of four digits. */
function isUsual(value: unknown): value is Date {
  if (!(value instanceof Date)) return false
  const year = value.getUTCFullYear()
  return year > 0 && year <= 9999
}

function quoteElement(text: string): string {
  return /["\\]/.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : `"${text}"`
}

/** Wraps the pool with a limit of connections per workspace. */
function fairPool(pool: pg.Pool, mostPerTenant: number, waitMs: number): PostgresPool {
  const enter = openSlots(mostPerTenant, waitMs)
  return {
    async connect() {
      const tenant = tenants.getStore()
      const leave = tenant === undefined ? undefined : await enter(tenant)
      try {
        const client = prepareByName(await pool.connect())
        const release = client.release
        client.release = (error) => {
          leave?.()
          release.call(client, error)
        }
        return client
      } catch (error) {
        leave?.()
        const isBusy = connectTimeouts.includes((error as Error).message)
        throw isBusy ? new PoolBusyError(`No connection became free within ${waitMs} ms`) : error
      }
    },
    end: () => pool.end(),
    options: pool.options,
  }
}

type Slots = { taken: number; waiting: (() => void)[] }
const mostWaiting = 500

function openSlots(most: number, waitMs: number): (tenant: string) => Promise<() => void> {
  const slotsOfTenants = new Map<string, Slots>()
  return async (tenant) => {
    const slots = slotsOfTenants.get(tenant) ?? { taken: 0, waiting: [] }
    slotsOfTenants.set(tenant, slots)
    if (slots.taken < most) slots.taken += 1
    else await waitInLine(slots, waitMs)
    return () => {
      const next = slots.waiting.shift()
      if (next) return next()
      slots.taken -= 1
      if (slots.taken === 0) slotsOfTenants.delete(tenant)
    }
  }
}

function waitInLine({ waiting }: Slots, waitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (waiting.length >= mostWaiting) {
      return reject(new PoolBusyError(`${mostWaiting} requests of this workspace are queued for a connection`))
    }
    const enter = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(enter), 1)
      reject(new PoolBusyError(`No connection of this workspace's share became free within ${waitMs} ms`))
    }, waitMs)
    waiting.push(enter)
  })
}

/** Limits all redirect processes together to 40 of PostgreSQL's default 100 connections, but at least one each. */
export function poolSize(
  config: Pick<Config, 'ROLES' | 'REDIRECT_PROCESSES'> & Partial<Pick<Config, 'POSTGRES_POOL'>>,
): number {
  if (config.POSTGRES_POOL !== undefined) return config.POSTGRES_POOL
  if (!servesVisitorsOnly(config)) return 10
  return Math.max(1, Math.min(5, Math.floor(40 / countVisitorProcesses(config))))
}

/** Updates a row by workspace and id; returns undefined if it does not exist. */
export async function updateById<Row>(db: Db, table: string, workspaceId: string, id: string, changes: Partial<Row>) {
  const row = await db
    .withTables<Record<string, Record<string, unknown>>>()
    .updateTable(table)
    .set({ ...changes, updated_at: sql<Date>`now()` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row as Row | undefined
}

export async function deleteById(db: Db, table: string, workspaceId: string, id: string): Promise<boolean> {
  const result = await sql`
    DELETE FROM ${sql.table(table)} WHERE workspace_id = ${workspaceId} AND id = ${id} RETURNING id`.execute(db)
  return result.rows.length > 0
}

function describeStatement(event: LogEvent): Statement {
  const { query, queryDurationMillis: durationMs } = event
  return { text: query.sql, durationMs, ...(event.level === 'error' && { problem: describeProblem(event.error) }) }
}

/** Whether a statement timed out, waited too long for a lock, or got no response. */
export function isTimedOut(error: unknown): boolean {
  const { code = '', message } = (error ?? {}) as { code?: string; message?: string }
  return ['57014', '55P03'].includes(code) || message === readTimeout
}

/** Whether PostgreSQL aborted a transaction because of a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === '40P01'
}

/** Opens a dedicated connection outside the pool, for LISTEN and session locks. */
export function openConnection(config: Pick<Config, 'POSTGRES_URL'>): pg.Client {
  const client = new pg.Client({
    connectionString: config.POSTGRES_URL,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  client.on('connect', () => void client.query(formatSettings(keepalives)).catch(() => {}))
  return client
}

function formatSettings(settings: Record<string, string | number>): string {
  return Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value}`)
    .join('; ')
}

const deadlockAttempts = 4

/**
 * Runs `work` in one transaction, or joins the current one. After a deadlock, a request's `work` runs again from the
 * start; jobs have their own retries.
 */
export async function transaction<C extends { db: Db; tracing?: Tracing }, R>(
  ctx: C,
  work: (ctx: C) => Promise<R>,
): Promise<R> {
  if (ctx.db.isTransaction) return work(ctx)
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(ctx, work)
    } catch (error) {
      if (!isDeadlock(error) || tenants.getStore() === undefined || attempt === deadlockAttempts) throw error
    }
  }
}

function runOnce<C extends { db: Db; tracing?: Tracing }, R>(ctx: C, work: (ctx: C) => Promise<R>): Promise<R> {
  const attributes = { 'db.system.name': 'postgresql' }
  return traced(ctx, { name: 'transaction', kind: 'client', attributes }, () =>
    ctx.db.transaction().execute((db) => {
      const inside = () => work({ ...ctx, db })
      return guarded.has(ctx.db) ? openTransactions.run(true, inside) : inside()
    }),
  )
}

/** Runs `work` in a savepoint: an error undoes its writes, and the transaction continues. */
export async function savepoint<C extends { db: Db }, R>(ctx: C, work: (ctx: C) => Promise<R>): Promise<R> {
  await sql`SAVEPOINT item`.execute(ctx.db)
  try {
    const result = await work(ctx)
    await sql`RELEASE SAVEPOINT item`.execute(ctx.db)
    return result
  } catch (error) {
    await sql`ROLLBACK TO SAVEPOINT item`.execute(ctx.db)
    // Without RELEASE, this savepoint would hide an outer one with the same name.
    await sql`RELEASE SAVEPOINT item`.execute(ctx.db)
    throw error
  }
}

/** Returns the name of the violated unique constraint, or undefined. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code === '23505' ? error.constraint : undefined
}

/** Whether the error means that `lock_timeout` expired. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03'
}

/** Whether the error means that other rows refer to a row, or that the row it refers to is missing. */
export function isReferenced(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23503'
}
