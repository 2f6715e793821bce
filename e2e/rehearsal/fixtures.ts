import { hashPartition } from '../../server/src/platform/ids.ts'
import { browser } from '../../server/test/build.ts'
import { visit } from '../../server/test/visit.ts'
import type { TargetLink } from '../faults/visits.ts'
import { type Host, ports, selectHosts } from './hosts.ts'
import { readAuthorities, type Stack } from './stack.ts'
import type { WriterOptions } from './writer.ts'

export type Fixtures = {
  workspaces: { id: string; key: string }[]
  links: TargetLink[]
  /** One link per workspace that is visited last: when its click is counted, all earlier ones are. */
  lastLinks: TargetLink[]
  /** A link whose destination changes; its visits are always the same one, so that they don't count. */
  changing: TargetLink
  /** The workspace in which clients write. */
  writer: Pick<WriterOptions, 'key' | 'domain' | 'customer' | 'authorities'>
}

const linksPerWorkspace = 5
const workspaceCount = 2
/** As Caddy says that it got the request over HTTPS. */
export const fromProxy = { 'x-forwarded-proto': 'https' }
export const apiUrl = () => `http://${selectHosts('api')[0]?.address}:${ports.api}`

/** Creates workspaces by the operator's commands, and links over the API, as they work in every version. */
export async function createFixtures(stack: Stack): Promise<Fixtures> {
  const partitions = Number(stack.installation.settings.EVENT_PARTITIONS)
  const names = Array.from({ length: workspaceCount }, (_, number) => `shop-${number}`)
  const [writer, ...workspaces] = await Promise.all(['writer', ...names].map((name) => createWorkspace(stack, name)))
  if (!writer) throw new Error('There is no workspace to write in')
  const covered = new Set(workspaces.map(({ id }) => hashPartition(id, partitions)))
  for (let number = workspaceCount; covered.size < partitions; number++) {
    const workspace = await createWorkspace(stack, `shop-${number}`)
    workspaces.push(workspace)
    covered.add(hashPartition(workspace.id, partitions))
  }
  const links: TargetLink[] = []
  const lastLinks: TargetLink[] = []
  for (const workspace of workspaces) {
    for (let number = 0; number < linksPerWorkspace; number++)
      links.push(await createLink(workspace, { key: `link-${number}` }))
    lastLinks.push(await createLink(workspace, { key: 'last' }))
  }
  const customer = await createCustomer(writer)
  const authorities = await readAuthorities(stack)
  const changing = await createLink(writer, { key: 'changing' })
  await readDestination(changing, selectHosts('redirect')[0])
  return {
    workspaces,
    links,
    lastLinks,
    changing,
    writer: { key: writer.key, domain: writer.domain, customer, authorities },
  }
}

type Workspace = { id: string; key: string; domain: string }

async function createWorkspace(stack: Stack, slug: string): Promise<Workspace> {
  const domain = `${slug}.rehearsal.test`
  const { id } = JSON.parse(await stack.tributary('workspace', 'create', slug, '--json'))
  const { key } = JSON.parse(await stack.tributary('key', 'create', slug, '--json'))
  await stack.tributary('domain', 'add', slug, domain)
  return { id, key, domain }
}

async function createLink({ key: token, domain }: Workspace, given: object): Promise<TargetLink> {
  const body = { url: 'https://example.com/landing', domain, ...given }
  const { id, key } = await call<{ id: string; key: string }>(token, '/links', body)
  return { id, key, domain }
}

/** Creates a customer by a click and a lead, whose sales are counted on the link. */
async function createCustomer(workspace: Workspace): Promise<string> {
  const { key, domain } = await createLink(workspace, { key: 'sold', trackConversion: true })
  const destination = await readDestination({ key, domain }, selectHosts('redirect')[0])
  const clickId = new URL(destination).searchParams.get('trib_id')
  await call(workspace.key, '/track/lead', { clickId, eventName: 'Sign up', customerExternalId: 'buyer' })
  return 'buyer'
}

/** Where a redirect sends a visitor of a link, who is always the same. */
export async function readDestination(
  { key, domain }: Pick<TargetLink, 'key' | 'domain'>,
  host?: Host,
): Promise<string> {
  const headers = { host: domain, 'user-agent': browser }
  const answer = await visit(`http://${host?.address}:${ports.redirect}/${key}`, headers)
  return answer.headers.location ?? ''
}

export async function call<Answer>(
  key: string,
  path: string,
  body?: object,
  method = body ? 'POST' : 'GET',
): Promise<Answer> {
  const response = await fetch(apiUrl() + path, {
    method,
    headers: { ...fromProxy, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json() as Promise<Answer>
}
