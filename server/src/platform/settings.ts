// This file exceeds the line limit, because it is the only list of settings, from which the docs are generated.
import { type Plan, plans } from '@tributary/contract/operation'
import { z } from 'zod'
import { parseAddress, parseDnsServer, parseRange, readRanges } from './ranges.ts'
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
const natsAddress = z.url({ protocol: /^(nats|tls)$/ })

/** Wraps a parser; its exception becomes the validation message. */
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
  if (!name.success) throw new Error(`${JSON.stringify(text)} is not a host name, address or CIDR range`)
  return name.data
}

function parsePorts(text: string): [from: number, to: number] {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  if (!from || Number(to) > 65_535 || Number(from) > Number(to)) {
    throw new Error(`${JSON.stringify(text)} is not a port or port range, such as 8443 or 9000-9100`)
  }
  return [Number(from), Number(to)]
}

function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim())
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      if (!name || value === undefined) throw new Error('each part must be name=value')
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
      throw new Error(`${JSON.stringify(pair.trim())} is not a plan and a number of days, such as free:30`)
    }),
  )
}

function parseBackupKey(text: string): Buffer | undefined {
  if (text && !/^[0-9a-f]{64}$/i.test(text)) throw new Error('it must be 64 hex digits')
  return text ? Buffer.from(text, 'hex') : undefined
}

export type Setting = { type: z.ZodType; default?: string; description: string; secret?: true; url?: true }

/** Every setting with its default and description; `npm run settings` writes `.env.example` and the docs table from it. */
export const settings = {
  ENVIRONMENT: {
    type: z.enum(['production', 'development']),
    default: 'production',
    description: 'Deployment environment; `development` accepts plain HTTP from localhost.',
  },
  ROLES: {
    type: list.pipe(z.array(z.enum(['api', 'redirect', 'worker'])).min(1)),
    default: 'api,redirect,worker',
    description: 'Roles that `serve` runs. Several roles run as one supervised process each.',
  },
  REDIRECT_PROCESSES: {
    type: z.preprocess((text) => text || undefined, z.coerce.number().int().min(1).max(64).optional()),
    default: '',
    description:
      'Number of redirect processes that share `REDIRECT_PORT`; by default, one per two cores, or one per core of a server with `ROLES=redirect`.',
  },
  API_HEAP_MEGABYTES: {
    type: heap,
    default: '160',
    description: 'JavaScript heap of a separate api process.',
  },
  REDIRECT_HEAP_MEGABYTES: { type: heap, default: '128', description: 'JavaScript heap of each redirect process.' },
  WORKER_HEAP_MEGABYTES: { type: heap, default: '240', description: 'JavaScript heap of the worker process.' },
  HOST: {
    type: z.string().min(1),
    default: '127.0.0.1',
    description: 'Listen address; `0.0.0.0` in a container.',
  },
  API_PORT: { type: port, default: '3000', description: 'Port of the API.' },
  API_HEADER_BYTES: {
    type: z.coerce.number().int().min(16_384).max(1_048_576),
    default: '131072',
    description:
      'Maximum size of the URL and headers of an API request, in bytes. The default fits a `query` of 10,000 characters and a list of 1,000 links, percent-encoded. A proxy in front must accept as much.',
  },
  REDIRECT_PORT: { type: port, default: '3001', description: 'Port for short links.' },
  OPS_PORT: {
    type: port,
    default: '3002',
    description: 'Port of `/healthz`, `/readyz` and `/metrics`. Keep it private.',
  },
  API_URL: {
    type: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
    default: 'http://127.0.0.1:3000',
    description: 'Public URL of the API.',
  },
  SHORT_DOMAIN: {
    type: z.hostname(),
    default: 'links.localhost',
    description: 'Shared short-link domain for workspaces without their own.',
  },
  DOMAIN_CNAME: {
    type: z.union([z.literal('').transform(() => undefined), z.hostname().transform((name) => name.toLowerCase())]),
    default: '',
    description: 'Host name to which workspaces point their domains with a CNAME record, which verifies them.',
  },
  DOMAIN_ADDRESSES: {
    type: list.pipe(z.array(read(parseAddress))),
    default: '',
    description:
      'IP addresses of the redirect server, comma-separated. A domain whose A and AAAA records are all among them is verified.',
  },
  DNS_SERVERS: {
    type: list.pipe(z.array(read(parseDnsServer))),
    default: '',
    description:
      'DNS servers for domain verification and webhook receivers, as `192.0.2.1` or `192.0.2.1:53`, comma-separated; by default, those of the system.',
  },
  POSTGRES_URL: {
    type: z.url({ protocol: /^postgres(ql)?$/ }),
    description: 'PostgreSQL URL: workspaces, keys, links, counters, money.',
    url: true,
  },
  POSTGRES_POOL: {
    type: z.preprocess((text) => text || undefined, count.optional()),
    default: '',
    description:
      'PostgreSQL connections per process; by default 10, and for a redirect process 5, or an equal share of 40 if there are more than eight redirect processes.',
  },
  POSTGRES_STATEMENT_TIMEOUT_MS: {
    type: count,
    default: '15000',
    description:
      'Statement timeout of the api and the redirect. The worker has four times as long, commands such as `verify` 40 times.',
  },
  POSTGRES_LOOKUP_POOL: {
    type: count,
    default: '2',
    description: "Additional PostgreSQL connections of an api process, only for visitors' link and domain lookups.",
  },
  POSTGRES_WAIT_MS: {
    type: count,
    default: '5000',
    description:
      "Maximum wait of a request for a PostgreSQL connection, after which the request gets 429. One workspace uses at most half of a process's connections.",
  },
  NATS_URL: {
    type: z.string().refine((text) => text.split(',').every((part) => natsAddress.safeParse(part.trim()).success), {
      error: 'Invalid URL',
    }),
    description: 'URL of NATS with JetStream, the event log. Separate cluster nodes with commas.',
    url: true,
  },
  NATS_REPLICAS: {
    type: z.coerce.number().int().min(1).max(5),
    default: '1',
    description: 'Replicas of each NATS stream; 3 for a cluster of three nodes.',
  },
  CLICKHOUSE_URL: {
    type: z.url({ protocol: /^https?$/ }),
    description: 'ClickHouse HTTP URL with user, password and database: all events, for analytics.',
    url: true,
  },
  CLICKHOUSE_CLUSTER: {
    type: optional,
    default: '',
    description: 'Name of the ClickHouse cluster on which Replicated and Distributed tables are created.',
  },
  VALKEY_URL: {
    type: z.url({ protocol: /^(redis|rediss|valkey)$/ }),
    description: 'Valkey or Redis URL: rate limits, repeated visits, link cache. Its data may be lost at any time.',
    url: true,
  },
  CLICK_ID_KEYS: {
    type: read((text) => parseKeys(text, 15)),
    description:
      'Secrets that sign click ids, newest first: `1:` and 64 hex digits (`openssl rand -hex 32`). Keep old secrets.',
    secret: true,
  },
  ENCRYPTION_KEYS: {
    type: read((text) => parseKeys(text)),
    description:
      'Keys that encrypt link passwords, webhook secrets and stored responses to requests with an `Idempotency-Key`, and that sign session cookies, newest first, in the format of `CLICK_ID_KEYS`. Keep old keys. A new first key signs everybody out.',
    secret: true,
  },
  CLICK_ID_PARAMETER: {
    type: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/),
    default: 'trib_id',
    description: 'Query parameter that passes the click id to destinations of links with conversion tracking.',
  },
  EVENT_PARTITIONS: {
    type: z.coerce.number().int().min(1).max(256),
    default: '1',
    description: 'Number of event log partitions in NATS. One worker at a time reads each partition.',
  },
  EVENT_RETENTION_DAYS: {
    type: count,
    default: '30',
    description:
      'Retention of events in NATS, shorter for a partition above 80 % of its size. Set it longer than any worker outage.',
  },
  EVENT_LOG_MAX_MEGABYTES: {
    type: z.coerce.number().int().min(16),
    default: '18432',
    description:
      'Maximum total size of all NATS streams, below its `max_file_store`. Click partitions share 27/32 of it evenly. Above 80 % of a partition, its oldest clicks that are already in ClickHouse are deleted; when it is full, clicks wait in the spool.',
  },
  AUDIT_RETENTION_DAYS: {
    type: count,
    default: '730',
    description:
      "Retention of the audit log and of partners' activities. Older entries are deleted; `tributary verify` still checks the rest.",
  },
  PUBLISHED_RETENTION_MINUTES: {
    type: count,
    default: '15',
    description: 'How long PostgreSQL keeps published messages, to publish them again if NATS loses them.',
  },
  CLICK_DURABILITY: {
    type: z.enum(['ack', 'async']),
    default: 'ack',
    description:
      '`ack` redirects after the click is stored; `async` redirects at once, and a crash may lose clicks in flight.',
  },
  CLICK_LOG_FORMAT: {
    type: z.enum(['json', 'binary']),
    default: 'json',
    description:
      'How redirects write clicks to NATS. `binary` is smaller and costs less CPU time. New installations by the installers set it; in others, set it when no worker of 0.1 is left.',
  },
  CLICKS_PER_ADDRESS_PER_SECOND: {
    type: count,
    default: '50',
    description:
      'Maximum clicks per second that a redirect process records for one IPv4 address or IPv6 /56, with a burst of 20 times as many. Above it, visitors are redirected without a click id and not counted. Private addresses have no limit.',
  },
  CAPTURE_DEADLINE_MS: {
    type: count,
    default: '1500',
    description: 'Maximum wait for NATS before a redirect process writes the click to `SPOOL_DIRECTORY`.',
  },
  REDIRECT_CACHE_MEGABYTES: {
    type: count,
    default: '32',
    description:
      'Memory of the link cache in each redirect and api process, and a quarter more for domains. The default holds about 25,000 links.',
  },
  SPOOL_DIRECTORY: {
    type: z.string().min(1),
    default: './spool',
    description: 'Directory that stores clicks while NATS is unreachable, on a disk that survives a restart.',
  },
  SPOOL_MAX_MEGABYTES: {
    type: count,
    default: '1024',
    description: 'Maximum size of `SPOOL_DIRECTORY`; redirect processes that share a port share it evenly.',
  },
  INGEST_INTERVAL_MS: {
    type: z.coerce.number().int().min(0),
    default: '1000',
    description:
      'Minimum time between two ClickHouse inserts of clicks of a partition, longer after a slow one; also between two inserts of leads and sales.',
  },
  INGEST_BATCH_BYTES: { type: count, default: '8388608', description: 'Maximum bytes of clicks per insert.' },
  CONVERSION_BATCH_BYTES: {
    type: count,
    default: '8388608',
    description: 'Maximum size of lead and sale rows per ClickHouse insert. A single lead or sale may be larger.',
  },
  ROLLUP_VALUES_PER_DAY: {
    type: count,
    default: '10000',
    description:
      'Maximum distinct values of a UTM parameter, referrer, destination, city, browser or system per workspace in the daily rollup. Further values are counted together in the rollup, and analytics of such days read the events instead.',
  },
  GEO_DATABASE: {
    type: optional,
    default: '',
    description:
      'MMDB file with locations of IP addresses, such as DB-IP City Lite or GeoLite2 City, for visitors without a location header from a trusted proxy. A changed file is loaded without a restart. By default, built-in countries are used.',
  },
  GEO_DATABASE_URL: {
    type: z.url({ protocol: /^https?$/ }),
    default: 'https://download.db-ip.com/free/dbip-city-lite-{month}.mmdb.gz',
    description:
      'URL from which `tributary geo update` downloads the `GEO_DATABASE` file, also as `.gz`; `{month}` becomes this month, or the one before.',
    url: true,
  },
  IP_STORAGE: {
    type: z.enum(['full', 'truncated', 'none', 'eu-truncated']),
    default: 'eu-truncated',
    description:
      "How much of a visitor's IP address is stored with a click: `full`, `truncated` (to /24 or /48), `none`, or `eu-truncated` (in the EU, EEA and UK, and where the country is unknown or built-in). `tributary workspace set` overrides it per workspace.",
  },
  BOT_RANGES_FILE: {
    type: read((file) => (file ? readRanges(file) : undefined)),
    default: '',
    description:
      'File with data centre addresses or CIDR ranges, one per line; clicks from these are stored as bots. The file is read at the start and must be the same on all workers.',
  },
  RATES_FILE: {
    type: optional,
    default: '',
    description:
      "JSON file with the exchange rates that convert sales to their workspace's currency. A changed file is loaded without a restart. By default, the exchange rates of the release date are used.",
  },
  RATES_URL: {
    type: z.url({ protocol: /^https?$/ }),
    default: 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml',
    description:
      "URL from which `tributary rates update` downloads exchange rates, in the European Central Bank's XML format.",
    url: true,
  },
  DEFAULT_PLAN: { type: z.enum(plans), default: 'enterprise', description: 'Plan of new workspaces.' },
  API_WORKSPACE_CONCURRENCY: {
    type: count,
    default: '8',
    description:
      'Maximum concurrent requests of one workspace per api process, half as many for `/events` and `/analytics`; further ones wait up to 20 s. While the process is busy with several workspaces, one that uses more than half gets fewer, down to one. Keep it below `POSTGRES_POOL`.',
  },
  ENTERPRISE_REQUESTS_PER_MINUTE: {
    type: count,
    default: '60000',
    description: 'Rate limit of a key on the enterprise plan.',
  },
  ENTERPRISE_ANALYTICS_PER_SECOND: {
    type: count,
    default: '100',
    description: 'Rate limit of a key on the enterprise plan for `/events` and `/analytics`.',
  },
  HISTORY_DAYS_BY_PLAN: {
    type: read(parsePlanDays),
    default: '',
    description: 'Days of event history by plan, such as `free:30,pro:365`. Other plans keep events forever.',
  },
  QUERY_MAX_SECONDS: {
    type: z.coerce.number().int().min(1).max(29),
    default: '25',
    description: 'Query timeout of `/events` and `/analytics`, after which a request gets 422.',
  },
  QUERY_MAX_MEGABYTES: {
    type: z.coerce.number().int().min(0),
    default: '0',
    description: "Maximum ClickHouse memory of one `/events` or `/analytics` query; 0 applies ClickHouse's own limit.",
  },
  QUERY_MAX_ROWS: {
    type: z.coerce.number().int().min(0),
    default: '0',
    description: 'Maximum events that one `/analytics` query reads; 0 disables the limit.',
  },
  LINKS_PER_WORKSPACE: { type: count, default: '10000000', description: 'Maximum links per workspace.' },
  CUSTOMERS_PER_WORKSPACE: { type: count, default: '10000000', description: 'Maximum customers per workspace.' },
  DOMAINS_PER_WORKSPACE: { type: count, default: '1000', description: 'Maximum domains per workspace.' },
  TAGS_PER_WORKSPACE: { type: count, default: '10000', description: 'Maximum tags per workspace.' },
  FOLDERS_PER_WORKSPACE: { type: count, default: '10000', description: 'Maximum folders per workspace.' },
  UTM_TEMPLATES_PER_WORKSPACE: { type: count, default: '1000', description: 'Maximum UTM templates per workspace.' },
  VIEWS_PER_WORKSPACE: { type: count, default: '10000', description: 'Maximum saved views per workspace.' },
  NOTES_PER_WORKSPACE: { type: count, default: '2000', description: 'Maximum notes on days per workspace.' },
  PARTNERS_PER_WORKSPACE: { type: count, default: '10000000', description: 'Maximum partners per workspace.' },
  PARTNER_GROUPS_PER_WORKSPACE: { type: count, default: '1000', description: 'Maximum partner groups per workspace.' },
  PARTNER_TAGS_PER_WORKSPACE: { type: count, default: '1000', description: 'Maximum partner tags per workspace.' },
  UNCONFIRMED_APPLICATIONS_PER_PROGRAM: {
    type: count,
    default: '10000',
    description: 'Maximum pending applications to a partner program whose e-mail addresses are not confirmed.',
  },
  PARTNER_EMAILS_PER_DAY: {
    type: count,
    default: '1000',
    description:
      'Maximum e-mails to applicants and invited partners per workspace and day (UTC). One address gets at most three.',
  },
  WEBHOOKS_PER_WORKSPACE: { type: count, default: '100', description: 'Maximum webhooks per workspace.' },
  KEYS_PER_WORKSPACE: {
    type: count,
    default: '1000',
    description: 'Maximum API keys per workspace, not counting revoked and expired ones.',
  },
  MEMBERS_PER_WORKSPACE: {
    type: count,
    default: '1000',
    description: 'Maximum members per workspace, with open invites.',
  },
  WORKSPACES_PER_USER: {
    type: count,
    default: '10',
    description: 'Maximum workspaces that one user may own by creating them.',
  },
  INVITES_PER_WORKSPACE_PER_DAY: {
    type: count,
    default: '500',
    description: 'Maximum invite e-mails of one workspace within 24 hours.',
  },
  INVITES_PER_RECIPIENT_PER_DAY: {
    type: count,
    default: '10',
    description: 'Maximum invite e-mails to one address within 24 hours, of all workspaces.',
  },
  NOTIFICATIONS_PER_PERSON_PER_DAY: {
    type: count,
    default: '20',
    description:
      'Maximum notification e-mails to one person within 24 hours, of all workspaces. Further notifications wait and come together in one e-mail.',
  },
  NOTIFICATIONS_PER_WORKSPACE_PER_DAY: {
    type: count,
    default: '1000',
    description: 'Maximum notification e-mails of one workspace within 24 hours, to all its members.',
  },
  CERTIFICATES_PER_WORKSPACE_PER_DAY: {
    type: count,
    default: '100',
    description: 'Maximum hosts per workspace that get their first certificate within 24 hours.',
  },
  PUBLISHABLE_VISITOR_REQUESTS_PER_MINUTE: {
    type: count,
    default: '120',
    description: 'Rate limit of a publishable key per visitor, which is an IPv4 address or an IPv6 /64.',
  },
  PUBLISHABLE_KEY_REQUESTS_PER_MINUTE: {
    type: count,
    default: '6000',
    description: 'Rate limit of a publishable key for all its visitors together.',
  },
  SIGNUP: {
    type: z.enum(['first', 'invited', 'domains', 'open']),
    default: 'first',
    description:
      'Who may create an account: `first` and `invited` (the first person by the setup link, then invited people), `domains` (also e-mail addresses of `SIGNUP_DOMAINS`), or `open` (everybody).',
  },
  SIGNUP_DOMAINS: {
    type: list.pipe(z.array(z.hostname().transform((name) => name.toLowerCase()))),
    default: '',
    description: 'Domains of e-mail addresses that may create an account with `SIGNUP=domains`, comma-separated.',
  },
  INIT_OWNER_EMAIL: {
    type: optional.pipe(z.email().max(254).optional()),
    default: '',
    description:
      'E-mail address of the first user, created at the first start of the api, for unattended installations. Without `INIT_OWNER_PASSWORD`, `tributary user link` prints a sign-in link.',
  },
  INIT_OWNER_PASSWORD: {
    type: optional.pipe(z.string().min(10).max(200).optional()),
    default: '',
    description: 'Password of `INIT_OWNER_EMAIL`, at least 10 characters. Change it after the first sign-in.',
    secret: true,
  },
  INIT_WORKSPACE_NAME: {
    type: z.string().min(1).max(32),
    default: 'My workspace',
    description: 'Name of the first workspace, which `INIT_OWNER_EMAIL` owns.',
  },
  SESSION_DAYS: {
    type: z.coerce.number().int().min(1).max(365),
    default: '30',
    description: 'Days after which a person has to sign in again.',
  },
  SIGN_IN_ATTEMPTS_PER_ADDRESS: {
    type: count,
    default: '100',
    description: 'Maximum sign-in attempts per client in 15 minutes; a client is an IPv4 address or an IPv6 /64.',
  },
  SIGN_IN_ATTEMPTS_PER_ACCOUNT: {
    type: count,
    default: '10',
    description:
      'Maximum sign-in attempts per e-mail address in 15 minutes. A browser in which this person signed in before has a limit of its own.',
  },
  SIGN_IN_ATTEMPTS_PER_MINUTE: {
    type: count,
    default: '300',
    description: 'Maximum sign-in attempts per minute from browsers in which nobody signed in before.',
  },
  SIGN_IN_VISITS_PER_MINUTE: {
    type: count,
    default: '120',
    description: 'Maximum requests per minute of one client to the sign-in and account pages.',
  },
  UNAUTHENTICATED_REQUESTS_PER_MINUTE: {
    type: count,
    default: '120',
    description: 'Rate limit of requests without a valid key per client, which is an IPv4 address or an IPv6 /64.',
  },
  TRUSTED_PROXIES: {
    type: list.pipe(z.array(read((range) => parseRange(range) && range))),
    default: '',
    description: 'Trusted proxies, whose `X-Forwarded-*` headers are used: addresses or CIDR ranges.',
  },
  OUTBOUND_ALLOWED_PORTS: {
    type: list.pipe(z.array(read(parsePorts))),
    default: '',
    description: 'Ports besides 80 and 443 that requests to user-supplied URLs may use, such as `8443,9000-9100`.',
  },
  OUTBOUND_ALLOWED_HOSTS: {
    type: list.pipe(z.array(read(parseHost))).transform((hosts) => ({
      names: hosts.filter((host) => !isRange.test(host)),
      ranges: hosts.filter((host) => isRange.test(host)),
    })),
    default: '',
    description: 'Non-public host names, addresses or CIDR ranges that requests to user-supplied URLs may reach.',
  },
  WEBHOOK_CONCURRENCY: {
    type: count,
    default: '10',
    description: 'Maximum concurrent deliveries to one webhook receiver per worker.',
  },
  WEBHOOK_WORKSPACE_CONCURRENCY: {
    type: count,
    default: '50',
    description: 'Maximum concurrent webhook deliveries of one workspace per worker.',
  },
  WEBHOOK_STORAGE_MEGABYTES: {
    type: count,
    default: '1024',
    description:
      'Maximum stored webhook events per workspace. Above it the oldest finished events are deleted; when all are pending, new events are dropped and counted.',
  },
  SMTP_URL: {
    type: z.union([z.literal('').transform(() => undefined), z.url({ protocol: /^smtps?$/ })]),
    default: '',
    description:
      'Mail server, as `smtps://user:password@mail.example.com:465`. Without one, e-mail is logged as a warning.',
    url: true,
  },
  EMAIL_FROM: {
    type: z.string().min(3),
    default: 'Tributary <tributary@localhost>',
    description: 'Sender address of e-mail.',
  },
  UPDATE_CHECK_URL: {
    type: z.union([z.literal('').transform(() => undefined), z.url({ protocol: /^https?$/ })]),
    default: '',
    description:
      'Address of a JSON object with the newest `version` and the `url` of its notes, or of a latest release on GitHub, that a worker fetches once a day for the operator page. Without one, nothing is fetched; `tributary release known` records the version instead.',
    url: true,
  },
  BACKUP_S3_ENDPOINT: {
    type: z.url({ protocol: /^https?$/ }),
    default: 'https://s3.amazonaws.com',
    description:
      'Endpoint of the S3-compatible storage for `tributary backup s3://bucket/folder`, with path-style access.',
  },
  BACKUP_S3_REGION: { type: z.string().min(1), default: 'us-east-1', description: 'Backup storage region.' },
  BACKUP_S3_ACCESS_KEY: { type: optional, default: '', description: 'Backup storage access key id.' },
  BACKUP_S3_SECRET_KEY: { type: optional, default: '', description: 'Backup storage secret key.', secret: true },
  BACKUP_KEY: {
    type: read(parseBackupKey),
    default: '',
    description:
      'Key that encrypts backups: 64 hex digits (`openssl rand -hex 32`). Encrypted backups include all settings with their secrets. Store the key apart from the backups.',
    secret: true,
  },
  TLS_CERT: {
    type: optional,
    default: '',
    description: 'Certificate chain file, to serve HTTPS without a proxy.',
  },
  TLS_KEY: { type: optional, default: '', description: 'Private key file of the certificate `TLS_CERT`.' },
  BODY_LIMIT_BYTES: {
    type: count,
    default: '1048576',
    description: 'Maximum request body size in bytes. Most operations have a lower limit.',
  },
  BODY_DEADLINE_MS: {
    type: count,
    default: '30000',
    description: 'Request body timeout, after which a request gets 400.',
  },
  IDEMPOTENCY_STORAGE_MEGABYTES: {
    type: count,
    default: '2000',
    description:
      "Maximum size of one workspace's stored responses to requests with an `Idempotency-Key`, each kept for a day. Above it, such requests get 403.",
  },
  LINK_MAX_BYTES: {
    type: count,
    default: '65536',
    description: 'Maximum link size in bytes: destinations, texts and ids together.',
  },
  LOG_LEVEL: {
    type: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'Minimum log level.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    type: z.union([z.literal('').transform(() => undefined), z.url({ protocol: /^https?$/ })]),
    default: '',
    description:
      'Trace collector that accepts OTLP over HTTP, such as `http://127.0.0.1:4318`. Without one, tracing is off.',
    url: true,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    type: read(parseHeaders),
    default: '',
    description: 'Headers for the trace collector, such as an API key: `name=value,name=value`, URL-encoded.',
    secret: true,
  },
  OTEL_SERVICE_NAME: { type: z.string().min(1), default: 'tributary', description: 'Service name in traces.' },
  OTEL_TRACES_SAMPLER_ARG: {
    type: z.coerce.number().min(0).max(1),
    default: '1',
    description: 'Share of API requests to trace, from 0 to 1.',
  },
  STREAM_STALL_MS: {
    type: count,
    default: '30000',
    description: 'Time after which a stream or export client that reads nothing is disconnected.',
  },
  SHUTDOWN_DRAIN_MS: {
    type: z.coerce.number().int().min(0),
    default: '0',
    description:
      'Time after SIGTERM during which `/healthz` is 503 and requests are still served, so that a load balancer sends them elsewhere. Set it to 6000 if several servers are behind a load balancer.',
  },
  SHUTDOWN_GRACE_MS: { type: count, default: '8000', description: 'Maximum wait for running requests at shutdown.' },
} as const satisfies Record<string, Setting>
