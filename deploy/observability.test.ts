import { execFile } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { readPage } from '../e2e/docs/blocks.ts'
import { freePort } from '../engines/port.ts'
import { projectFolder } from '../engines/programs.ts'
import { openAllMetrics } from '../server/test/metrics.ts'
import { eventually } from '../server/test/stack.ts'
import { startProgram, temporaryFolder } from './test/program.ts'
import { copyInstaller, install, readCompose } from './test/settings.ts'

const allMetrics = await openAllMetrics()

type Target = { expr: string; datasource: { uid: string } }
type Panel = {
  id: number
  type: string
  title: string
  description?: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: Target[]
}
type Answer = { status: string; error?: string; data: { result: unknown[]; groups: { rules: Rule[] }[] } }
type Rule = { name: string; query: string; health: string; lastError?: string }

const folder = join(import.meta.dirname, 'prometheus')
const rules = await readFile(join(folder, 'rules.yml'), 'utf8')
const ruleTests = await readFile(join(folder, 'rules.test.yml'), 'utf8')
const dashboard = JSON.parse(
  await readFile(join(import.meta.dirname, 'grafana/dashboards/tributary.json'), 'utf8'),
) as {
  uid: string
  schemaVersion: number
  panels: Panel[]
}
const guide = await readFile(join(projectFolder, 'docs/guides/observability.md'), 'utf8')
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name as string)
const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
const page = readPage('guides/observability')
const promtool = (...args: string[]) => promisify(execFile)('promtool', args, { cwd: folder })

describe("Prometheus's own checker", () => {
  test('accepts the configuration and the rules', async () => {
    const { stdout } = await promtool('check', 'config', '--lint=all', '--lint-fatal', 'prometheus.yml')
    expect(stdout).toContain(`SUCCESS: ${alerts.length} rules found`)
  })

  test('confirms that every alert fires exactly when it must', async () => {
    const { stdout } = await promtool('test', 'rules', 'rules.test.yml')
    expect(stdout).toContain('SUCCESS')
  })
})

test("the guide's job fits the configuration, and every block of the guide is tested", async () => {
  const work = await temporaryFolder()
  onTestFinished(() => work[Symbol.asyncDispose]())
  const [job] = page.take('yaml')
  await writeFile(join(work.path, 'own.yml'), `scrape_configs:\n${job?.text}`)
  await promtool('check', 'config', join(work.path, 'own.yml'))
  expect(job?.text).toContain('job_name: tributary\n')
  expect(page.left()).toEqual([expect.stringMatching(/ sh$/)])
})

describe('every alert', () => {
  test.each(alerts)('%s is tested firing and quiet, and has a runbook', (alert) => {
    expect(ruleTests).toContain(`name: ${alert} fires`)
    expect(ruleTests).toContain(`name: ${alert} is quiet`)
    expect(rules).toContain(`runbook: docs/guides/observability.md#${alert.toLowerCase()}`)
    expect(guide).toContain(`\n### ${alert}\n\n${findSeverity(alert)}. `)
  })
})

describe('every metric', () => {
  test('of the dashboard and the rules is exported by a running server', async () => {
    const text = await (await fetch(`${inject('server').ops}/metrics`)).text()
    const exported = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    )
    const named = [rules, ...queries.map(({ expr }) => expr)].flatMap(selectorsIn).map(({ name }) => name)
    expect(named.length).toBeGreaterThan(50)
    expect([...new Set(named)].filter((name) => !exported.includes(name))).toEqual([])
  })

  test('is queried by existing labels', async () => {
    const labels = labelsByMetric()
    const wrong = [rules, ruleTests, ...queries.map(({ expr }) => expr)]
      .flatMap(selectorsIn)
      .filter(({ name, asked }) => !asked.every((label) => labels(name).includes(label)))
    expect(wrong).toEqual([])
  })

  test('that the server exports is on the dashboard', () => {
    const shown = queries.flatMap(({ expr }) => selectorsIn(expr)).map(({ name }) => withoutSuffix(name))
    const ours = allMetrics.registry.getMetricsAsArray().map(({ name }) => name)
    const missing = ours.filter((name) => !/^tributary_(nodejs|process)_/.test(name) && !shown.includes(name))
    expect(missing).toEqual([])
  })
})

test('Prometheus scrapes a server, evaluates every rule and answers every query of the dashboard', async () => {
  const { ops } = inject('server')
  const work = await temporaryFolder()
  onTestFinished(() => work[Symbol.asyncDispose]())
  await cp(folder, work.path, { recursive: true })
  const config = await readFile(join(folder, 'prometheus.yml'), 'utf8')
  const here = config
    .replace(
      /^ {4}dns_sd_configs:[\s\S]*?(?=^ {4}#)/m,
      `    static_configs:\n      - targets: ["${new URL(ops).host}"]\n`,
    )
    .replaceAll(/(_interval): 15s/g, '$1: 1s')
    .replace('scrape_timeout: 10s', 'scrape_timeout: 1s')
  await writeFile(join(work.path, 'prometheus.yml'), here)
  const address = `127.0.0.1:${await freePort()}`
  const ask = async (path: string, query: Record<string, string> = {}): Promise<Answer> =>
    (await (await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(query)}`)).json()) as Answer
  const prometheus = await startProgram({
    command: 'prometheus',
    args: [
      `--config.file=${join(work.path, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(work.path, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    answers: () => ask('status/buildinfo'),
  })
  onTestFinished(() => prometheus[Symbol.asyncDispose]())

  await eventually(async () => {
    const { data } = await ask('query', { query: 'up{job="tributary"} == 1' })
    expect(data.result).toHaveLength(1)
  }, 30_000)
  const judged = await eventually(async () => {
    const found = (await ask('rules')).data.groups.flatMap(({ rules }) => rules)
    expect(found.filter(({ health }) => health === 'unknown')).toEqual([])
    return found
  }, 40_000)
  expect(judged.map(({ name }) => name).sort()).toEqual([...alerts].sort())
  expect(judged.filter(({ health }) => health !== 'ok')).toEqual([])
  for (const { title, expr } of queries) {
    const { status, error } = await ask('query', { query: withVariables(expr) })
    expect({ title, expr, status, error }).toEqual({ title, expr, status: 'success', error: undefined })
  }
  const alive = await ask('query', { query: 'min by (engine) (tributary_engine_up) == 1' })
  expect(alive.data.result).toHaveLength(4)
  const running = await ask('query', { query: 'sum by (role) (tributary_process_up) == 1' })
  expect(running.data.result).toHaveLength(3)
})

describe('the dashboard', () => {
  test('queries only the selected data source', () => {
    const sources = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ datasource }) => datasource.uid))
    expect(sources.filter((uid) => !/^\$\{datasource\}$/.test(uid))).toEqual([])
  })

  test('has panels with unique ids and positions, and a description each', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(panels.filter(({ type, description }) => type !== 'row' && !description)).toEqual([])
    const overlaps = panels.flatMap((one, index) =>
      panels.slice(index + 1).filter((other) => overlap(one.gridPos, other.gridPos)),
    )
    expect(overlaps).toEqual([])
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  })
})

test('compose.observability.yaml mounts its files at the configured paths, and listens on localhost only', async () => {
  const work = await temporaryFolder()
  onTestFinished(() => work[Symbol.asyncDispose]())
  await copyInstaller(work.path)
  await cp(join(projectFolder, 'compose.observability.yaml'), join(work.path, 'compose.observability.yaml'))
  await install(work.path, ['--domain', 'go.example.com', '--email', 'me@example.com', '--settings-only'])
  const { services } = await readCompose(work.path, await followGuide(work.path))
  const mounts = ['prometheus', 'grafana'].flatMap((name) => services[name]?.volumes ?? [])
  const files = mounts.filter(({ type }) => type === 'bind')
  expect(files.map(({ source, target }) => [relative(work.path, source), target])).toEqual([
    ['deploy/prometheus', '/etc/prometheus'],
    ['deploy/grafana/provisioning', '/etc/grafana/provisioning'],
    ['deploy/grafana/dashboards', '/etc/grafana/dashboards'],
  ])
  expect(files.every(({ read_only }) => read_only)).toBe(true)
  const provider = await readFile(join(import.meta.dirname, 'grafana/provisioning/dashboards/tributary.yml'), 'utf8')
  expect(provider).toContain('path: /etc/grafana/dashboards')
  const ports = Object.entries(services).flatMap(([name, { ports = [] }]) => (name === 'caddy' ? [] : ports))
  expect(ports).toMatchObject([{ host_ip: '127.0.0.1' }, { host_ip: '127.0.0.1' }])
})

/** Follows the steps of the guide that need no Docker; returns the Compose files that the guide's Docker step starts. */
async function followGuide(folder: string): Promise<string[]> {
  const [block] = page.take('sh')
  const [secret = '', start = ''] = block?.text.trim().split('\n') ?? []
  await promisify(execFile)('sh', ['-ec', secret], { cwd: folder })
  expect(start).toMatch(/^docker compose .*up --detach --wait$/)
  return [...start.matchAll(/--file (\S+)/g)].map(([, file]) => file as string)
}

function findSeverity(alert: string): string | undefined {
  return new RegExp(`- alert: ${alert}\\n[\\s\\S]*?severity: (\\w+)`).exec(rules)?.[1]
}

function selectorsIn(text: string): { name: string; asked: string[] }[] {
  return [...text.matchAll(/\b(tributary_[a-z0-9_]+)(?:\{([^}]*)\})?/g)].map(([, name = '', inside = '']) => ({
    name,
    asked: [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label]) => label as string),
  }))
}

function labelsByMetric(): (name: string) => string[] {
  const metrics = allMetrics.registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[]
  const labels = new Map(metrics.map(({ name, labelNames }) => [name, labelNames]))
  return (name) => [
    'instance',
    'job',
    'le',
    'role',
    'slot',
    ...(labels.get(name) ?? labels.get(withoutSuffix(name)) ?? []),
  ]
}

function withoutSuffix(name: string): string {
  return name.replace(/_(bucket|count|sum)$/, '')
}

function withVariables(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '1h').replaceAll('$instance', '.*')
}

function overlap(one: Panel['gridPos'], other: Panel['gridPos']): boolean {
  const apart = one.x + one.w <= other.x || other.x + other.w <= one.x
  return !apart && one.y < other.y + other.h && other.y < one.y + one.h
}
