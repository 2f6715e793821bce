import { z } from 'zod'
import { instant } from './common.ts'
import { operation } from './operation.ts'

export const operatorStates = ['good', 'waiting', 'harm'] as const
const state = z
  .enum(operatorStates)
  .describe('`good`: nothing to do. `waiting`: look at it when you have time. `harm`: act now.')

const count = z.number().nullable().describe('Null if no process has reported it in the last minute.')

const engine = z.strictObject({
  name: z.enum(['postgres', 'nats', 'clickhouse', 'valkey']),
  state,
  answers: z.boolean(),
  milliseconds: z.number(),
  version: z.string().nullable().describe('Null if the engine has not said it within a second.'),
  problem: z.string().nullable().describe('Why it does not answer, or what is wrong with its version.'),
})

const role = z.strictObject({
  role: z.enum(['api', 'redirect', 'worker']),
  state,
  processes: z
    .array(
      z.strictObject({ host: z.string(), version: z.string(), up: z.boolean(), startedAt: instant, seenAt: instant }),
    )
    .describe('Processes that have reported in the last hour.'),
})

export const operatorQueues = ['clicks', 'spool', 'conversions', 'outbox', 'webhooks', 'notifications'] as const
const queue = z.strictObject({
  name: z
    .enum(operatorQueues)
    .describe(
      '`clicks`: in the event log and not yet in ClickHouse. `spool`: clicks that NATS has not taken yet. `conversions`: leads and sales that are not yet in ClickHouse. `outbox`: messages that are not yet in NATS. `webhooks`: due deliveries. `notifications`: e-mails that are due.',
    ),
  state,
  waiting: count,
  oldestSeconds: count,
})

const disk = z.strictObject({
  name: z.string().describe('`clickhouse`, `spool`, or `log` for the event log in NATS.'),
  state,
  freeRatio: z.number().describe('Free share, from 0 to 1.'),
})

export const operatorProblems = ['dead_letters', 'clicks_lost', 'records_lost', 'webhook_events_dropped'] as const
const problem = z.strictObject({
  name: z
    .enum(operatorProblems)
    .describe(
      '`dead_letters`: events and messages that were refused and wait for you. `clicks_lost` and `webhook_events_dropped`: since the processes started. `records_lost`: when PostgreSQL was restored to an older state.',
    ),
  state,
  count: z.number(),
})

const run = z
  .strictObject({
    startedAt: instant,
    finishedAt: instant,
    successful: z.boolean(),
    location: z.string().nullable().describe('Where the backup is.'),
    bytes: z.number().nullable(),
    encrypted: z.boolean().nullable(),
    problem: z.string().nullable(),
  })
  .meta({ id: 'MaintenanceRun' })

export const operatorStatus = z
  .strictObject({
    checkedAt: instant,
    state: state.describe('The worst of all states.'),
    version: z.strictObject({
      state,
      running: z.string(),
      newest: z.string().nullable().describe('The newest version that is known; null if none is.'),
      url: z.string().nullable(),
      source: z
        .enum(['operator', 'fetched'])
        .nullable()
        .describe('Who said so: `tributary release known`, or UPDATE_CHECK_URL.'),
      knownAt: instant.nullable(),
      fetches: z.boolean().describe('Whether UPDATE_CHECK_URL is set.'),
    }),
    engines: z.array(engine),
    roles: z.array(role),
    queues: z.array(queue),
    disks: z.array(disk),
    problems: z.array(problem),
    mail: z.strictObject({
      state,
      configured: z.boolean(),
      failed: z.number().describe('Notifications of the last 24 hours that the mail server refused.'),
    }),
    backups: z.strictObject({
      state,
      last: run.nullable().describe('The last successful backup.'),
      lastFailure: run.nullable().describe('The last failed backup, if none succeeded since.'),
      lastVerify: run.nullable().describe('The last `tributary verify` of all workspaces.'),
    }),
  })
  .meta({ id: 'OperatorStatus' })
export type OperatorStatus = z.infer<typeof operatorStatus>
export type OperatorState = (typeof operatorStates)[number]

export const getOperatorStatus = operation({
  id: 'getOperatorStatus',
  method: 'get',
  path: '/operator/status',
  summary: 'Get the state of the installation',
  description:
    'Returns the health of engines and processes, queues, disks, backups and versions to a signed-in operator; 404 for everybody else. `tributary user operator <e-mail> on` makes an operator.',
  tag: 'Operator',
  actors: ['user'],
  scope: 'preferences.read',
  workspace: 'none',
  response: operatorStatus,
})
