// Longer than other files: the one list of all settings, from which documents are printed.
import { availableParallelism } from 'node:os'
import { type Plan, plans } from '@tributary/contract/operation'
import { z } from 'zod'
import { parseRange } from './client-address.ts'
import { parseAddress, parseDnsServer, readRanges } from './ranges.ts'
import { parseKeys } from './seal.ts'

const port = z.coerce.number().int().min(0).max(65_535)
const count = z.coerce.number().int().min(1)
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
)
const optional = z.string().transform((text) => text || undefined)
const heap = z.coerce.number().int().min(16).max(65_536)
const defaultRedirectProcesses = () => Math.max(1, Math.floor(availableParallelism() / 2))
const natsAddress = z.url({ protocol: /^(nats|tls)$/ })

/** What a reader throws is the message of the problem. */
function read<T>(reader: (text: string) => T) {
  return z.string().transform((text, check) => {
    try {
      return reader(text)
    } catch (error) {
      check.addIssue({ code: 'custom', message: (error as Error).message })
      return z.NEVER
    }
  })
}

const isRange = /[:/]|^[\d.]+$/

function parseHost(text: string): string {
  if (isRange.test(text)) return parseRange(text) && text
  const name = z.hostname().safeParse(text.toLowerCase().replace(/\.$/, ''))
  if (!name.success) throw new Error(`${JSON.stringify(text)} is no host name, address or CIDR range`)
  return name.data
}

function parsePorts(text: string): [from: number, to: number] {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  if (!from || Number(to) > 65_535 || Number(from) > Number(to)) {
    throw new Error(`${JSON.stringify(text)} is no port or range of ports, such as 8443 or 9000-9100`)
  }
  return [Number(from), Number(to)]
}

function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim())
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      if (!name || value === undefined) throw new Error('it has a part that is no name=value')
      return [name.toLowerCase(), decodeURIComponent(value)]
    }),
  )
}

function parsePlanDays(text: string): Partial<Record<Plan, number>> {
  const pairs = text.split(',').filter((pair) => pair.trim())
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, plan, days] = /^\s*(\w+)\s*:\s*(\d{1,5})\s*$/.exec(pair) ?? []
      if (plans.includes(plan as Plan) && Number(days) >= 1) return [plan, Number(days)]
      throw new Error(`${JSON.stringify(pair.trim())} is not a plan and its days, such as free:30`)
    }),
  )
}

function parseBackupKey(text: string): Buffer | undefined {
  if (text && !/^[0-9a-f]{64}$/i.test(text)) throw new Error('write it as 64 hex digits')
  return text ? Buffer.from(text, 'hex') : undefined
}

export type Setting = { type: z.ZodType; default?: string; description: string; secret?: true; url?: true }

/** Every setting, its default and its meaning. `.env.example` and the docs table are printed from this list. */
export const settings = {
  ENVIRONMENT: {
    type: z.enum(['production', 'development']),
    default: 'production',
    description: 'In `development`, plain HTTP is accepted from this machine itself.',
  },
  ROLES: {
    type: list.pipe(z.array(z.enum(['api', 'redirect', 'worker'])).min(1)),
    default: 'api,redirect,worker',
    description:
      'What `serve` does. One role runs in this process; several are started as a process each and restarted when they end.',
  },
  REDIRECT_PROCESSES: {
    type: z.preprocess((text) => text || defaultRedirectProcesses(), z.coerce.number().int().min(1).max(64)),
    default: '',
    description: 'Redirect processes that share `REDIRECT_PORT`; if not set, one for every two cores.',
  },
  API_HEAP_MEGABYTES: {
    type: heap,
    default: '192',
    description: 'Largest JavaScript heap of the api when `serve` starts it as a process of its own.',
  },
  REDIRECT_HEAP_MEGABYTES: { type: heap, default: '128', description: 'The same for each redirect process.' },
  WORKER_HEAP_MEGABYTES: { type: heap, default: '240', description: 'The same for the worker.' },
  HOST: {
    type: z.string().min(1),
    default: '127.0.0.1',
    description: 'Address to listen on; `0.0.0.0` in a container.',
  },
  API_PORT: { type: port, default: '3000', description: 'Port of the API.' },
  API_HEADER_BYTES: {
    type: z.coerce.number().int().min(16_384).max(1_048_576),
    default: '131072',
    description:
      'Largest address and headers of a request to the API, in bytes. The default fits a `query` of 10,000 characters and a list of 1,000 links, percent-encoded. Each connection can hold this much while its headers arrive, and a proxy in front must accept it too.',
  },
  REDIRECT_PORT: { type: port, default: '3001', description: 'Port of the short links.' },
  OPS_PORT: {
    type: port,
    default: '3002',
    description: 'Port of `/healthz`, `/readyz` and `/metrics`; keep it private.',
  },
  API_URL: {
    type: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
    default: 'http://127.0.0.1:3000',
    description: 'Public address of the API, as clients write it.',
  },
  SHORT_DOMAIN: {
    type: z.hostname(),
    default: 'links.localhost',
    description: 'Shared domain for workspaces that have none of their own.',
  },
  DOMAIN_CNAME: {
    type: z.union([z.literal('').transform(() => undefined), z.hostname().transform((name) => name.toLowerCase())]),
    default: '',
    description: 'Host name that a domain of a workspace may be an alias of; an alias proves it.',
  },
  DOMAIN_ADDRESSES: {
    type: list.pipe(z.array(read(parseAddress))),
    default: '',
    description: 'Public IP addresses of the short links, comma-separated; a domain that has only these is proved.',
  },
  DNS_SERVERS: {
    type: list.pipe(z.array(read(parseDnsServer))),
    default: '',
    description:
      'DNS servers to ask about domains and receivers of webhooks, as `192.0.2.1` or `192.0.2.1:53`, comma-separated; else those of the system.',
  },
  POSTGRES_URL: {
    type: z.url({ protocol: /^postgres(ql)?$/ }),
    description: 'PostgreSQL: workspaces, keys, links, counters, money.',
    url: true,
  },
  POSTGRES_POOL: {
    type: z.preprocess((text) => text || undefined, count.optional()),
    default: '',
    description:
      'Connections to PostgreSQL for each process; if not set, 10, and for a redirect 5 or its share of 40 if there are more than eight.',
  },
  POSTGRES_STATEMENT_TIMEOUT_MS: {
    type: count,
    default: '15000',
    description:
      'PostgreSQL ends a statement of the api and the redirect that takes longer. The worker has four times as long, commands such as `verify` 40 times.',
  },
  POSTGRES_LOOKUP_POOL: {
    type: count,
    default: '2',
    description:
      'Further connections of a process with the role api, only for looking up links and domains of visitors.',
  },
  POSTGRES_WAIT_MS: {
    type: count,
    default: '5000',
    description:
      'How long a request waits for a connection to PostgreSQL before it is refused with 429. Requests of one workspace get at most half of the connections of a process.',
  },
  NATS_URL: {
    type: z.string().refine((text) => text.split(',').every((part) => natsAddress.safeParse(part.trim()).success), {
      error: 'Invalid URL',
    }),
    description: 'NATS with JetStream: the event log. Several nodes of a cluster are separated by commas.',
    url: true,
  },
  NATS_REPLICAS: {
    type: z.coerce.number().int().min(1).max(5),
    default: '1',
    description: 'Copies of each stream; 3 with a cluster of three nodes.',
  },
  CLICKHOUSE_URL: {
    type: z.url({ protocol: /^https?$/ }),
    description: 'ClickHouse (HTTP): every event, for reading. User, password and database go into the address.',
    url: true,
  },
  CLICKHOUSE_CLUSTER: {
    type: optional,
    default: '',
    description: 'Name of a ClickHouse cluster: tables are then made Replicated and Distributed on it.',
  },
  VALKEY_URL: {
    type: z.url({ protocol: /^(redis|rediss|valkey)$/ }),
    description: 'Valkey or Redis: rate limits, repeated visits, link cache. May be lost at any time.',
    url: true,
  },
  CLICK_ID_KEYS: {
    type: read((text) => parseKeys(text, 15)),
    description:
      'Secrets of the click ids, newest first: `1:` and 64 hex digits (`openssl rand -hex 32`). Keep old ones.',
    secret: true,
  },
  ENCRYPTION_KEYS: {
    type: read((text) => parseKeys(text)),
    description:
      'Keys that encrypt link passwords, webhook secrets and the stored answers of requests with an `Idempotency-Key`, newest first, in the same form. Keep old ones.',
    secret: true,
  },
  CLICK_ID_PARAMETER: {
    type: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/),
    default: 'trib_id',
    description: 'Query parameter that carries the click id to the destination of links with conversion tracking.',
  },
  EVENT_PARTITIONS: {
    type: z.coerce.number().int().min(1).max(256),
    default: '1',
    description: 'Partitions of the event log; each is read by one worker at a time.',
  },
  EVENT_RETENTION_DAYS: {
    type: count,
    default: '30',
    description:
      'How long the log keeps events, from their arrival, unless it is above its watermark; longer than any outage of the workers.',
  },
  EVENT_LOG_MAX_MEGABYTES: {
    type: z.coerce.number().int().min(16),
    default: '18432',
    description:
      'Largest size of all streams in NATS together, below its `max_file_store`. 27 of 32 parts hold clicks, evenly for each partition. From 80 % of a part on, the oldest clicks that are stored in ClickHouse are deleted from the log; a full part takes no more, and clicks wait in the spool.',
  },
  PUBLISHED_RETENTION_MINUTES: {
    type: count,
    default: '15',
    description:
      'How long PostgreSQL keeps messages that the log has taken, to publish them again should the log come back without them.',
  },
  CLICK_DURABILITY: {
    type: z.enum(['ack', 'async']),
    default: 'ack',
    description:
      '`ack`: a visitor is redirected after the click is stored. `async`: at once; a crash may lose what is under way.',
  },
  CLICKS_PER_ADDRESS_PER_SECOND: {
    type: count,
    default: '50',
    description:
      'Clicks per second that each redirect process logs for one IPv4 address or IPv6 /56, after a burst of 20 times as many. Above it, visitors are still redirected, without a click id and uncounted. Addresses of private networks have no limit.',
  },
  CAPTURE_DEADLINE_MS: {
    type: count,
    default: '1500',
    description: 'How long a redirect waits for the log before it writes the click to the spool.',
  },
  REDIRECT_CACHE_MEGABYTES: {
    type: count,
    default: '32',
    description:
      'Memory of each redirect process, and of the api, for links; a quarter more for domains. About 25,000 links of usual size.',
  },
  SPOOL_DIRECTORY: {
    type: z.string().min(1),
    default: './spool',
    description: 'Where clicks are kept while the log is away. On a disk that survives a restart.',
  },
  SPOOL_MAX_MEGABYTES: {
    type: count,
    default: '1024',
    description: 'Size at which the spool takes no more; redirect processes that share a port share it evenly.',
  },
  INGEST_INTERVAL_MS: {
    type: z.coerce.number().int().min(0),
    default: '500',
    description:
      'Least time between two inserts of one partition; longer makes larger inserts. After an insert that took long, the next one waits longer by itself.',
  },
  INGEST_BATCH_BYTES: { type: count, default: '8388608', description: 'Size of log messages that fills one insert.' },
  CONVERSION_BATCH_BYTES: {
    type: count,
    default: '8388608',
    description:
      'Size of the rows of leads and sales in one insert. A single lead or sale is inserted whatever its size.',
  },
  ROLLUP_VALUES_PER_DAY: {
    type: count,
    default: '1000',
    description:
      'Different values of one UTM parameter, referrer, city, browser or system that a workspace has in the daily rollup; further ones are counted there in sum. Events keep every value, and analytics of such days read the events.',
  },
  GEO_DATABASE: {
    type: optional,
    default: '',
    description:
      'MMDB file with the places of IP addresses, such as DB-IP City Lite or GeoLite2 City, for visitors of whom no trusted proxy tells the country. A changed file is taken without a restart. Without one, built-in countries are used.',
  },
  GEO_DATABASE_URL: {
    type: z.url({ protocol: /^https?$/ }),
    default: 'https://download.db-ip.com/free/dbip-city-lite-{month}.mmdb.gz',
    description:
      'Where `tributary geo update` gets that file, also compressed as `.gz`; `{month}` becomes this month, or the one before.',
    url: true,
  },
  IP_STORAGE: {
    type: z.enum(['full', 'truncated', 'none', 'eu-truncated']),
    default: 'eu-truncated',
    description:
      'How much of the address of a visitor is stored with a click: `full`, `truncated` (to /24 or /48), `none`, or `eu-truncated`: truncated in the EU, EEA and UK and where the country is unknown or only from the built-in countries. A workspace may have its own: `tributary workspace set`.',
  },
  BOT_RANGES_FILE: {
    type: read((file) => (file ? readRanges(file) : undefined)),
    default: '',
    description:
      'File with ranges of data centres, one address or CIDR range per line; clicks from there are stored as bots. Read at the start, by every process; the same on all workers.',
  },
  RATES_FILE: {
    type: optional,
    default: '',
    description:
      'JSON file with the exchange rates that convert sales to the currency of their workspace. A changed file is loaded without a restart. Default: the exchange rates of the release date.',
  },
  RATES_URL: {
    type: z.url({ protocol: /^https?$/ }),
    default: 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml',
    description:
      'Address from which `tributary rates update` downloads exchange rates, in the XML of the European Central Bank.',
    url: true,
  },
  DEFAULT_PLAN: { type: z.enum(plans), default: 'enterprise', description: 'Plan of a new workspace.' },
  API_WORKSPACE_CONCURRENCY: {
    type: count,
    default: '8',
    description:
      'Requests of one workspace that an api process works on at a time; the others wait, up to 20 s. Half as many for `/events` and `/analytics`. A workspace that asks for more than half of it gets fewer, down to one, while the process is busy and other workspaces ask too. Keep it below `POSTGRES_POOL`.',
  },
  ENTERPRISE_REQUESTS_PER_MINUTE: {
    type: count,
    default: '60000',
    description: 'Limit of the enterprise plan for a key.',
  },
  ENTERPRISE_ANALYTICS_PER_SECOND: {
    type: count,
    default: '100',
    description: 'Limit of the enterprise plan for a key on `/events` and `/analytics`.',
  },
  HISTORY_DAYS_BY_PLAN: {
    type: read(parsePlanDays),
    default: '',
    description:
      'Days of event history for each plan, such as `free:30,pro:365`. A plan that is not named keeps events without end.',
  },
  QUERY_MAX_SECONDS: {
    type: z.coerce.number().int().min(1).max(29),
    default: '25',
    description: 'Longest query of `/events` or `/analytics`; a longer one is cut off with 422.',
  },
  QUERY_MAX_MEGABYTES: {
    type: z.coerce.number().int().min(0),
    default: '0',
    description: 'Memory that ClickHouse may use for one such query; 0 leaves the limit to ClickHouse.',
  },
  QUERY_MAX_ROWS: {
    type: z.coerce.number().int().min(0),
    default: '0',
    description: 'Events that one query of `/analytics` may read; 0 sets no limit.',
  },
  LINKS_PER_WORKSPACE: { type: count, default: '10000000', description: 'Links that a workspace can have.' },
  CUSTOMERS_PER_WORKSPACE: { type: count, default: '10000000', description: 'Customers that a workspace can have.' },
  DOMAINS_PER_WORKSPACE: { type: count, default: '1000', description: 'Domains that a workspace can have.' },
  TAGS_PER_WORKSPACE: { type: count, default: '10000', description: 'Tags that a workspace can have.' },
  FOLDERS_PER_WORKSPACE: { type: count, default: '10000', description: 'Folders that a workspace can have.' },
  WEBHOOKS_PER_WORKSPACE: { type: count, default: '100', description: 'Webhooks that a workspace can have.' },
  KEYS_PER_WORKSPACE: {
    type: count,
    default: '1000',
    description: 'API keys that a workspace can have, revoked ones aside.',
  },
  CERTIFICATES_PER_WORKSPACE_PER_DAY: {
    type: count,
    default: '100',
    description: 'Hosts of a workspace for which a first certificate is allowed within 24 hours.',
  },
  PUBLISHABLE_VISITOR_REQUESTS_PER_MINUTE: {
    type: count,
    default: '120',
    description: 'Limit of a publishable key for one visitor: an IPv4 address or an IPv6 /64.',
  },
  PUBLISHABLE_KEY_REQUESTS_PER_MINUTE: {
    type: count,
    default: '6000',
    description: 'Limit of a publishable key for all its visitors together.',
  },
  UNAUTHENTICATED_REQUESTS_PER_MINUTE: {
    type: count,
    default: '120',
    description:
      'Limit of requests without a valid key for one client: an IPv4 address or an IPv6 /64. Requests with a valid key never count.',
  },
  TRUSTED_PROXIES: {
    type: list.pipe(z.array(read((range) => parseRange(range) && range))),
    default: '',
    description: 'Addresses or CIDR ranges whose `X-Forwarded-*` headers are believed, comma-separated.',
  },
  OUTBOUND_ALLOWED_PORTS: {
    type: list.pipe(z.array(read(parsePorts))),
    default: '',
    description: 'Ports besides 80 and 443 that calls to addresses given by users may go to: `8443,9000-9100`.',
  },
  OUTBOUND_ALLOWED_HOSTS: {
    type: list.pipe(z.array(read(parseHost))).transform((hosts) => ({
      names: hosts.filter((host) => !isRange.test(host)),
      ranges: hosts.filter((host) => isRange.test(host)),
    })),
    default: '',
    description: 'Host names, addresses or CIDR ranges that such calls may reach although they are not public.',
  },
  WEBHOOK_CONCURRENCY: {
    type: count,
    default: '10',
    description: 'Calls to one receiver of webhooks at the same time, for each worker.',
  },
  WEBHOOK_WORKSPACE_CONCURRENCY: {
    type: count,
    default: '50',
    description: 'Calls for one workspace at the same time, to all of its receivers, for each worker.',
  },
  WEBHOOK_STORAGE_MEGABYTES: {
    type: count,
    default: '1024',
    description:
      'Stored webhook events of one workspace. Above it the oldest that are delivered or given up go; when all are still to be sent, new events are dropped and counted.',
  },
  SMTP_URL: {
    type: z.union([z.literal('').transform(() => undefined), z.url({ protocol: /^smtps?$/ })]),
    default: '',
    description:
      'Server that sends e-mail, as `smtps://user:password@mail.example.com:465`. Without one, what would be sent is logged as a warning.',
    url: true,
  },
  EMAIL_FROM: {
    type: z.string().min(3),
    default: 'Tributary <tributary@localhost>',
    description: 'Sender of e-mail.',
  },
  BACKUP_S3_ENDPOINT: {
    type: z.url({ protocol: /^https?$/ }),
    default: 'https://s3.amazonaws.com',
    description:
      'S3-compatible storage where `tributary backup s3://bucket/folder` puts its files; the bucket becomes part of the path.',
  },
  BACKUP_S3_REGION: { type: z.string().min(1), default: 'us-east-1', description: 'Region of that storage.' },
  BACKUP_S3_ACCESS_KEY: { type: optional, default: '', description: 'Access key id for that storage.' },
  BACKUP_S3_SECRET_KEY: { type: optional, default: '', description: 'Secret access key for it.', secret: true },
  BACKUP_KEY: {
    type: read(parseBackupKey),
    default: '',
    description:
      'Encrypts backups: 64 hex digits (`openssl rand -hex 32`). They then also hold all settings with their secrets. Keep it in another place than the backups.',
    secret: true,
  },
  TLS_CERT: {
    type: optional,
    default: '',
    description: 'File with the certificate chain, to serve HTTPS without a proxy.',
  },
  TLS_KEY: { type: optional, default: '', description: 'File with the private key of that certificate.' },
  BODY_LIMIT_BYTES: {
    type: count,
    default: '1048576',
    description: 'Largest request body in bytes, for every operation; most operations have a lower limit of their own.',
  },
  BODY_DEADLINE_MS: {
    type: count,
    default: '30000',
    description: 'How long a request body may take to arrive; one that is slower is refused with 400.',
  },
  IDEMPOTENCY_STORAGE_MEGABYTES: {
    type: count,
    default: '2000',
    description:
      'Stored answers of one workspace to requests with an `Idempotency-Key`, each kept for a day; beyond it such requests are refused with 403.',
  },
  LINK_MAX_BYTES: {
    type: count,
    default: '65536',
    description: 'Largest link in bytes: its destinations, texts and ids together.',
  },
  LOG_LEVEL: {
    type: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'Least level of a line that is logged.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    type: z.union([z.literal('').transform(() => undefined), z.url({ protocol: /^https?$/ })]),
    default: '',
    description:
      'Collector of traces that takes OTLP over HTTP, such as `http://127.0.0.1:4318`. Without one no traces are kept.',
    url: true,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    type: read(parseHeaders),
    default: '',
    description: 'Headers for that collector, such as a key: `name=value,name=value`, values URL-encoded.',
    secret: true,
  },
  OTEL_SERVICE_NAME: { type: z.string().min(1), default: 'tributary', description: 'Name of this service in traces.' },
  OTEL_TRACES_SAMPLER_ARG: {
    type: z.coerce.number().min(0).max(1),
    default: '1',
    description: 'Share of API requests that are traced, from 0 to 1.',
  },
  STREAM_STALL_MS: {
    type: count,
    default: '30000',
    description: 'A client of a stream or export that takes nothing for so long is cut off.',
  },
  SHUTDOWN_GRACE_MS: { type: count, default: '8000', description: 'How long a stop waits for requests under way.' },
} as const satisfies Record<string, Setting>
