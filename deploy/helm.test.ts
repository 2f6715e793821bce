import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectFolder } from '../engines/programs.ts'
import { readConfig } from '../server/src/platform/config.ts'
import { settings } from '../server/src/platform/settings.ts'
import { temporaryFolder } from './test/program.ts'

const run = promisify(execFile)
const chart = join(import.meta.dirname, 'helm/tributary')
const folder = await temporaryFolder()
afterAll(() => folder[Symbol.asyncDispose]())

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes documents, of which the tests read a few fields
type Manifest = { apiVersion: string; kind: string; metadata: any; spec: any; data: any }

const environment = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder.path, 'go') }
const program = join(folder.path, 'render')
let defaults: Manifest[] = []

beforeAll(async () => {
  const options = { env: { PATH: process.env.PATH, ...environment }, timeout: 110_000 }
  await run('go', ['build', '-o', program, join(import.meta.dirname, 'test/helm/render.go')], options).catch(
    (error) => {
      throw new Error(`${error.message}\nIf go or a library of it is missing: npm run setup -- --deploy`)
    },
  )
  defaults = await render({})
}, 120_000)

async function render(values: object, release = 'test'): Promise<Manifest[]> {
  const file = join(folder.path, 'values.json')
  await writeFile(file, JSON.stringify(values))
  const { stdout } = await run(program, [chart, file, release])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const ofKind = (manifests: Manifest[], kind: string) => manifests.filter((manifest) => manifest.kind === kind)
const find = (manifests: Manifest[], kind: string, name: string) =>
  ofKind(manifests, kind).find(({ metadata }) => metadata.name === `test-tributary${name}`) as Manifest

const roles = ['api', 'redirect', 'worker'] as const
const kinds = { api: 'Deployment', redirect: 'StatefulSet', worker: 'Deployment' }

test('has the roles, each with its budget and its autoscaler', () => {
  for (const kind of ['PodDisruptionBudget', 'HorizontalPodAutoscaler']) {
    const names = ofKind(defaults, kind).map(({ metadata }) => metadata.name)
    expect(names, kind).toEqual(roles.map((role) => `test-tributary-${role}`))
  }
  const versions = new Map(defaults.map(({ kind, apiVersion }) => [kind, apiVersion]))
  expect(Object.fromEntries(versions)).toEqual({
    ConfigMap: 'v1',
    Deployment: 'apps/v1',
    HorizontalPodAutoscaler: 'autoscaling/v2',
    Job: 'batch/v1',
    PodDisruptionBudget: 'policy/v1',
    Service: 'v1',
    StatefulSet: 'apps/v1',
  })
})

describe.each(roles)('%s', (role) => {
  const part = (kind: string) => find(defaults, kind, `-${role}`)
  const set = () => part(kinds[role])
  const pod = () => set().spec.template

  test('has selectors that match its own pods and no others', () => {
    const { labels } = pod().metadata
    const selectors = [set().spec.selector.matchLabels, part('PodDisruptionBudget').spec.selector.matchLabels]
    if (role !== 'worker') selectors.push(part('Service').spec.selector)
    for (const selector of selectors) {
      expect(selector['app.kubernetes.io/component']).toBe(role)
      expect(labels).toMatchObject(selector)
    }
    const { kind, name } = part('HorizontalPodAutoscaler').spec.scaleTargetRef
    expect([kind, name]).toEqual([kinds[role], set().metadata.name])
    // With `replicas`, an upgrade would undo the autoscaler's changes.
    expect(set().spec).not.toHaveProperty('replicas')
  })

  test('replaces one pod at a time, within the disruption budget', () => {
    const { minReplicas, maxReplicas } = part('HorizontalPodAutoscaler').spec
    expect(part('PodDisruptionBudget').spec.minAvailable).toBeLessThan(minReplicas)
    expect(maxReplicas).toBeGreaterThan(minReplicas)
  })

  test('runs non-root, on a read-only file system', () => {
    const [container] = pod().spec.containers
    expect(pod().spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  test('has probes on the health endpoints, and named ports exist', () => {
    const [container] = pod().spec.containers
    const ports = container.ports.map(({ name }: { name: string }) => name)
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'ops' })
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'ops' })
    expect(ports).toEqual(role === 'worker' ? ['ops'] : ['http', 'ops'])
    const mounts = container.volumeMounts.map(({ name }: { name: string }) => name)
    const claimed = set().spec.volumeClaimTemplates ?? []
    const volumes = [...claimed.map(({ metadata }: Manifest) => metadata), ...pod().spec.volumes]
    expect(volumes.map(({ name }: { name: string }) => name)).toEqual(mounts)
  })

  test('has settings that the server accepts', () => {
    const [container] = pod().spec.containers
    const own = container.env.map(({ name, value }: { name: string; value: string }) => [name, value])
    const config = readConfig({ ...find(defaults, 'ConfigMap', '').data, ...Object.fromEntries(own), ...secret })
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

const persistence = (manifests: Manifest[], role: 'api' | 'redirect') =>
  ['Deployment', 'StatefulSet'].flatMap((kind) => find(manifests, kind, `-${role}`)?.kind ?? [])

test('a redirect keeps its spool when its node dies: each pod has a persistent volume', async () => {
  const { spec } = find(defaults, 'StatefulSet', '-redirect')
  expect(spec).toMatchObject({ serviceName: 'test-tributary-redirect', podManagementPolicy: 'Parallel' })
  expect(spec).not.toHaveProperty('strategy')
  const [claim] = spec.volumeClaimTemplates
  expect(claim).toMatchObject({
    metadata: { name: 'state' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
  })
  expect(claim.spec).not.toHaveProperty('storageClassName')
  const [container] = spec.template.spec.containers
  const { mountPath } = container.volumeMounts.find(({ name }: { name: string }) => name === 'state')
  const { value } = container.env.find(({ name }: { name: string }) => name === 'SPOOL_DIRECTORY')
  expect(value.startsWith(`${mountPath}/`)).toBe(true)
  expect(Number(settings.SPOOL_MAX_MEGABYTES.default)).toBeLessThan(2 * 1024)
  expect(spec.template.spec.securityContext.fsGroup).toBe(1000)
})

test('persistent spools can be disabled, or enabled for the api too', async () => {
  const without = await render({ spool: { persistent: [] } })
  expect([persistence(without, 'api'), persistence(without, 'redirect')]).toEqual([['Deployment'], ['Deployment']])
  const { spec } = find(without, 'Deployment', '-redirect')
  expect(spec.template.spec.volumes[0]).toEqual({ name: 'state', emptyDir: { sizeLimit: '2Gi' } })
  expect(find(without, 'HorizontalPodAutoscaler', '-redirect').spec.scaleTargetRef.kind).toBe('Deployment')
  const both = await render({ spool: { persistent: ['redirect', 'api'], storageClass: 'fast' } })
  expect([persistence(both, 'api'), persistence(both, 'redirect')]).toEqual([['StatefulSet'], ['StatefulSet']])
  expect(find(both, 'StatefulSet', '-api').spec.volumeClaimTemplates[0].spec.storageClassName).toBe('fast')
})

test('names are short enough for the labels that Kubernetes adds, whatever the release is called', async () => {
  const manifests = await render({}, 'r'.repeat(53))
  const hashLength = 11
  for (const { kind, metadata } of manifests.filter(({ kind }) => /Deployment|StatefulSet|Job|Service/.test(kind))) {
    expect(metadata.name.length + hashLength, `${kind} ${metadata.name}`).toBeLessThanOrEqual(63)
  }
})

test('migrates after the settings are created and before anything else changes', () => {
  const weight = ({ metadata }: Manifest) => Number(metadata.annotations['helm.sh/hook-weight'])
  const [job, map] = [find(defaults, 'Job', '-migrate'), find(defaults, 'ConfigMap', '')]
  expect(weight(map)).toBeLessThan(weight(job))
  expect(job.spec.template.spec.containers[0].args).toEqual(['migrate'])
})

test('with other values: fixed replicas, an ingress, existing setting names', async () => {
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
  for (const name of Object.keys(find(defaults, 'ConfigMap', '').data)) expect(known).toContain(name)
})

test('has the version of the server', async () => {
  const { version } = JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8'))
  const text = await readFile(join(chart, 'Chart.yaml'), 'utf8')
  expect(text).toContain(`appVersion: ${version}\n`)
})
