import type { OperatorStatus } from '@tributary/contract/operator'
import { type Ctx, type Platform, requireUserId } from '../../platform/context.ts'
import { type Engine, inProcessProblem, judgeVersion, readEngines } from '../../platform/engine-versions.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { readiness } from '../../platform/health.ts'
import { usersByIds } from '../auth/service.ts'
import { notificationBacklog } from '../notifications/service.ts'
import { type BeatRow, selectBeats } from './beats-store.ts'
import {
  combineFigures,
  judgeBackups,
  judgeDisk,
  judgeEngine,
  judgeQueue,
  judgeRoles,
  silentMs,
  worst,
} from './judge.ts'
import {
  insertRun,
  pruneRuns,
  type ReleaseRow,
  type RunDetails,
  type RunKind,
  type RunRow,
  replaceRelease,
  selectLastRun,
  selectRelease,
} from './store.ts'
import { isNewer, parseVersion, readVersion } from './version.ts'

const hourMs = 3_600_000
const mostProcesses = 200
const mostRuns = 100
const longestProblem = 500
const versionWithinMs = 1_000

/** The state of the installation, for an operator; throws 404 for everybody else. */
export async function getStatus(ctx: Ctx): Promise<OperatorStatus> {
  await requireOperator(ctx)
  const now = ctx.now()
  const beats = await selectBeats(ctx.db, new Date(now.getTime() - hourMs), mostProcesses)
  const live = beats.filter(({ seen_at }) => now.getTime() - seen_at.getTime() < silentMs)
  const [engines, version, backups, backlog] = await Promise.all([
    describeEngines(ctx),
    readVersions(ctx),
    readBackups(ctx),
    notificationBacklog(ctx),
  ])
  const roles = judgeRoles(beats, now)
  const queues = [
    ...readQueues(live),
    judgeQueue('notifications', backlog.due, backlog.oldest ? (now.getTime() - backlog.oldest.getTime()) / 1_000 : 0),
  ]
  const [disks, problems] = [readDisks(live), readProblems(live)]
  const configured = ctx.config.SMTP_URL !== undefined
  const mail = {
    state: configured && backlog.refused === 0 ? 'good' : 'waiting',
    configured,
    failed: backlog.refused,
  } as const
  const parts = [version, backups, mail, ...engines, ...roles, ...queues, ...disks, ...problems]
  const state = worst(parts.map((part) => part.state))
  return { checkedAt: now.toISOString(), state, version, engines, roles, queues, disks, problems, mail, backups }
}

/** Records a backup or a verification, so that operators see its age. */
export async function recordRun(
  { db }: Pick<Platform, 'db'>,
  kind: RunKind,
  { startedAt, ...run }: { startedAt: Date; isSuccessful: boolean; details: RunDetails },
): Promise<void> {
  const { problem, ...details } = run.details
  const short = problem && { problem: problem.replaceAll(/\s+/g, ' ').slice(0, longestProblem).toWellFormed() }
  await insertRun(db, kind, {
    is_successful: run.isSuccessful,
    details: { ...details, ...short },
    started_at: startedAt,
    finished_at: new Date(),
  })
  await pruneRuns(db, mostRuns)
}

/** Records the newest version, as the operator knows it. */
export async function recordRelease(
  { db }: Pick<Platform, 'db'>,
  { version: text, url }: { version: string; url?: string | undefined },
): Promise<ReleaseRow> {
  const version = parseVersion(text)
  if (!version) throw invalid(`${JSON.stringify(text)} is not a version of three numbers, such as 1.4.0.`)
  if (url !== undefined && URL.parse(url)?.protocol !== 'https:') throw invalid('The address must begin with https://.')
  const row = { version, url: url ?? null, source: 'operator' as const, known_at: new Date() }
  await replaceRelease(db, row)
  return row
}

async function requireOperator(ctx: Ctx): Promise<void> {
  const userId = requireUserId(ctx.actor)
  const user = (await usersByIds(ctx, [userId])).get(userId)
  if (user?.isOperator && !user.disabledAt) return
  throw new AppError('not_found', 'There is no GET /operator/status. See /docs/reference for all operations.')
}

async function describeEngines(ctx: Ctx): Promise<OperatorStatus['engines']> {
  const [{ engines }, found] = await Promise.all([readiness(ctx), readEngines(ctx, { withinMs: versionWithinMs })])
  return Object.entries(engines).map(([key, { ok, milliseconds, error }]) => {
    const name = key as Engine
    const version = found.versions[name] ?? null
    const warning = version === null ? undefined : judgeVersion(name, version).problem
    const isTrial = name === 'clickhouse' && found.isClickHouseInProcess && ctx.config.ENVIRONMENT === 'production'
    const problem = error?.slice(0, longestProblem) ?? warning ?? (isTrial ? inProcessProblem : null)
    const state = ok && problem !== null ? 'waiting' : judgeEngine(name, ok)
    return { name, state, answers: ok, milliseconds, version, problem }
  })
}

async function readVersions({ db, config }: Ctx): Promise<OperatorStatus['version']> {
  const running = readVersion()
  const known = await selectRelease(db)
  const isOutdated = known !== undefined && isNewer(known.version, running)
  return {
    state: isOutdated ? 'waiting' : 'good',
    running,
    newest: known?.version ?? null,
    url: known?.url ?? null,
    source: known?.source ?? null,
    knownAt: known?.known_at.toISOString() ?? null,
    fetches: config.UPDATE_CHECK_URL !== undefined,
  }
}

async function readBackups({ db, now }: Ctx): Promise<OperatorStatus['backups']> {
  const [last, failed, verified] = [
    await selectLastRun(db, 'backup', true),
    await selectLastRun(db, 'backup', false),
    await selectLastRun(db, 'verify'),
  ]
  const failure = failed && (!last || failed.finished_at > last.finished_at) ? failed : undefined
  const state = worst([judgeBackups(last, failure, now()), verified?.is_successful === false ? 'waiting' : 'good'])
  return { state, last: presentRun(last), lastFailure: presentRun(failure), lastVerify: presentRun(verified) }
}

function readQueues(live: BeatRow[]): OperatorStatus['queues'] {
  const max = (name: string) => highest(combineFigures(live, `tributary_${name}`))
  const sum = (name: string) => total(combineFigures(live, `tributary_${name}`, add))
  return [
    judgeQueue('clicks', total(combineFigures(live, 'tributary_ingest_lag_messages')), max('ingest_lag_seconds')),
    judgeQueue('spool', sum('spool_messages'), max('spool_oldest_seconds')),
    judgeQueue('conversions', null, max('conversions_overdue_seconds')),
    judgeQueue('outbox', max('outbox_messages'), max('outbox_oldest_seconds')),
    judgeQueue('webhooks', max('webhook_pending'), null),
  ]
}

function readDisks(live: BeatRow[]): OperatorStatus['disks'] {
  const disks = combineFigures(live, 'tributary_disk_free_ratio', Math.min)
  const limits = combineFigures(live, 'tributary_log_limit_bytes')
  const free = [...combineFigures(live, 'tributary_log_bytes')]
    .filter(([stream]) => stream !== 'DEAD_LETTERS' && limits.get(stream))
    .map(([stream, bytes]) => 1 - bytes / (limits.get(stream) ?? bytes))
  const log = free.length > 0 ? [judgeDisk('log', Math.max(0, Math.min(...free)))] : []
  return [...[...disks].map(([name, ratio]) => judgeDisk(name, ratio)), ...log]
}

function readProblems(live: BeatRow[]): OperatorStatus['problems'] {
  const problem = (name: OperatorStatus['problems'][number]['name'], count: number | null) => ({
    name,
    state: count ? ('harm' as const) : ('good' as const),
    count: count ?? 0,
  })
  return [
    problem('dead_letters', total(combineFigures(live, 'tributary_dead_letters'))),
    problem('clicks_lost', total(combineFigures(live, 'tributary_clicks_lost_total', add))),
    problem('records_lost', total(combineFigures(live, 'tributary_lost_records'))),
    problem('webhook_events_dropped', total(combineFigures(live, 'tributary_webhook_events_dropped_total', add))),
  ]
}

function presentRun(run: RunRow | undefined): OperatorStatus['backups']['last'] {
  if (!run) return null
  const { location = null, bytes = null, encrypted = null, problem = null } = run.details
  return {
    startedAt: run.started_at.toISOString(),
    finishedAt: run.finished_at.toISOString(),
    successful: run.is_successful,
    ...{ location, bytes, encrypted, problem },
  }
}

const add = (one: number, other: number) => one + other

function total(figures: Map<string, number>): number | null {
  return figures.size === 0 ? null : [...figures.values()].reduce(add, 0)
}

function highest(figures: Map<string, number>): number | null {
  return figures.size === 0 ? null : Math.max(...figures.values())
}
