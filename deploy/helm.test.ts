import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectFolder } from '../engines/programs.ts'
import { readConfig, settings } from '../server/src/platform/config.ts'
import { temporaryFolder } from './test/program.ts'

const run = promisify(execFile)
const chart = join(import.meta.dirname, 'helm/tributary')
const folder = await temporaryFolder()
afterAll(() => folder[Symbol.asyncDispose]())

// biome-ignore lint/suspicious/noExplicitAny: documents of Kubernetes, of which the tests look at a few places
type Manifest = { apiVersion: string; kind: string; metadata: any; spec: any; data: any }

const environment = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder.path, 'go') }
const program = join(folder.path, 'render')
let standard: Manifest[] = []

beforeAll(async () => {
  const options = { env: { PATH: process.env.PATH, ...environment }, timeout: 110_000 }
  await run('go', ['build', '-o', program, join(import.meta.dirname, 'test/helm/render.go')], options).catch(
    (error) => {
      throw new Error(`${error.message}\nIf go or a library of it is missing: npm run setup -- --deploy`)
    },
  )
  standard = await render({})
}, 120_000)

async function render(values: object): Promise<Manifest[]> {
  const file = join(folder.path, 'values.json')
  await writeFile(file, JSON.stringify(values))
  const { stdout } = await run(program, [chart, file])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const ofKind = (manifests: Manifest[], kind: string) => manifests.filter((manifest) => manifest.kind === kind)
const find = (manifests: Manifest[], kind: string, name: string) =>
  ofKind(manifests, kind).find(({ metadata }) => metadata.name === `test-tributary${name}`) as Manifest

test('has the roles as deployments, each with its budget and its autoscaler', () => {
  for (const kind of ['Deployment', 'PodDisruptionBudget', 'HorizontalPodAutoscaler']) {
    const names = ofKind(standard, kind).map(({ metadata }) => metadata.name)
    expect(names, kind).toEqual(['test-tributary-api', 'test-tributary-redirect', 'test-tributary-worker'])
  }
  const versions = new Map(standard.map(({ kind, apiVersion }) => [kind, apiVersion]))
  expect(Object.fromEntries(versions)).toEqual({
    ConfigMap: 'v1',
    Deployment: 'apps/v1',
    HorizontalPodAutoscaler: 'autoscaling/v2',
    Job: 'batch/v1',
    PodDisruptionBudget: 'policy/v1',
    Service: 'v1',
  })
})

describe.each(['api', 'redirect', 'worker'])('%s', (role) => {
  const part = (kind: string) => find(standard, kind, `-${role}`)
  const pod = () => part('Deployment').spec.template

  test('selects its own pods, and no others', () => {
    const { labels } = pod().metadata
    const selectors = [
      part('Deployment').spec.selector.matchLabels,
      part('PodDisruptionBudget').spec.selector.matchLabels,
    ]
    if (role !== 'worker') selectors.push(part('Service').spec.selector)
    for (const selector of selectors) {
      expect(selector['app.kubernetes.io/component']).toBe(role)
      expect(labels).toMatchObject(selector)
    }
    expect(part('HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe(part('Deployment').metadata.name)
    // With replicas an upgrade would undo what the autoscaler did.
    expect(part('Deployment').spec).not.toHaveProperty('replicas')
  })

  test('lets one pod go at a time, and the budget leaves room for that', () => {
    const { minReplicas, maxReplicas } = part('HorizontalPodAutoscaler').spec
    expect(part('PodDisruptionBudget').spec.minAvailable).toBeLessThan(minReplicas)
    expect(maxReplicas).toBeGreaterThan(minReplicas)
  })

  test('runs without rights, on a file system that can only be read', () => {
    const [container] = pod().spec.containers
    expect(pod().spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  test('is asked for its health where it tells it, and named ports exist', () => {
    const [container] = pod().spec.containers
    const ports = container.ports.map(({ name }: { name: string }) => name)
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'ops' })
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'ops' })
    expect(ports).toEqual(role === 'worker' ? ['ops'] : ['http', 'ops'])
    const mounts = container.volumeMounts.map(({ name }: { name: string }) => name)
    expect(pod().spec.volumes.map(({ name }: { name: string }) => name)).toEqual(mounts)
  })

  test('has settings that the server takes', () => {
    const [container] = pod().spec.containers
    const own = container.env.map(({ name, value }: { name: string; value: string }) => [name, value])
    const config = readConfig({ ...find(standard, 'ConfigMap', '').data, ...Object.fromEntries(own), ...secret })
    expect([config.ROLES, config.HOST, config.NATS_REPLICAS]).toEqual([[role], '0.0.0.0', 3])
    const names = container.envFrom.map((from: object) => Object.values(from)[0].name)
    expect(names).toEqual(['test-tributary', 'tributary'])
  })
})

const secret = {
  POSTGRES_URL: 'postgres://tributary:secret@postgres/tributary',
  NATS_URL: 'nats://nats:4222',
  CLICKHOUSE_URL: 'http://clickhouse:8123',
  VALKEY_URL: 'redis://valkey:6379',
  CLICK_ID_KEYS: `1:${'0a'.repeat(32)}`,
  ENCRYPTION_KEYS: `1:${'0b'.repeat(32)}`,
}

test('migrates before anything is changed, after the settings are there', () => {
  const weight = ({ metadata }: Manifest) => Number(metadata.annotations['helm.sh/hook-weight'])
  const [job, map] = [find(standard, 'Job', '-migrate'), find(standard, 'ConfigMap', '')]
  expect(weight(map)).toBeLessThan(weight(job))
  expect(job.spec.template.spec.containers[0].args).toEqual(['migrate'])
})

test('other values: fixed replicas, an ingress, names of settings that exist', async () => {
  const autoscaling = { enabled: false }
  const manifests = await render({
    roles: { api: { autoscaling, replicas: 4 }, redirect: { autoscaling }, worker: { autoscaling } },
    ingress: { enabled: true, className: 'nginx', annotations: { a: 'b' } },
    imagePullSecrets: [{ name: 'pull' }],
    podAnnotations: { c: 'd' },
    nodeSelector: { e: 'f' },
    tolerations: [{ key: 'g', operator: 'Exists' }],
    services: { type: 'LoadBalancer', annotations: { h: 'i' } },
  })
  expect(ofKind(manifests, 'HorizontalPodAutoscaler')).toEqual([])
  expect(find(manifests, 'Deployment', '-api').spec.replicas).toBe(4)
  const { rules } = find(manifests, 'Ingress', '').spec
  const backends = rules.map((rule: Manifest['spec']) => rule.http.paths[0].backend.service.name)
  expect(backends).toEqual(['test-tributary-api', 'test-tributary-redirect'])
  for (const name of backends)
    expect(find(manifests, 'Service', name.slice('test-tributary'.length)).spec.type).toBe('LoadBalancer')
  expect(find(manifests, 'Service', '-ops').spec.type).toBe('ClusterIP')
  const known = [...Object.keys(settings), 'NODE_OPTIONS']
  for (const name of Object.keys(find(standard, 'ConfigMap', '').data)) expect(known).toContain(name)
})

test('is of the version of the server', async () => {
  const { version } = JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8'))
  const text = await readFile(join(chart, 'Chart.yaml'), 'utf8')
  expect(text).toContain(`appVersion: ${version}\n`)
})
