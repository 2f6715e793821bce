import type { Actor, Ctx, Platform } from '../../platform/context.ts'
import type { Performed } from '../../platform/recording.ts'
import { describeWrite, personsIn, type SealValue, storeChanges } from './entry.ts'
import { cachedActorKey, makeKeys, type PersonKeys, sealFor } from './persons.ts'
import { insertEntries, type NewEntry } from './store.ts'

/** The chain of entries without a workspace. */
export const installation = 'installation'

type Handles = Pick<Platform, 'db' | 'config'>
type Described = ReturnType<typeof describeWrite>
type Draft = Omit<NewEntry, 'sealed_network' | 'changes'> & { network: string; person: string } & Pick<
    Described,
    'changes'
  >

/** Something to record that is not a write through the API. */
export type AuditEvent = {
  /** Such as `sign-in` or `tributary key create`. */
  operation: string
  actor: Pick<Actor, 'kind' | 'id'>
  /** Whose values these are; the actor when omitted. */
  person?: string
  /** Without a workspace, the entry is about the installation. */
  workspaceId?: string
  /** The session or key. */
  credential?: string
  network?: string
  requestId?: string
  target?: { kind: string; ids: string[] }
  /** Values that describe the event, without secrets and personal data. */
  details?: object
}

/** Records an event, in the caller's transaction if there is one. */
export async function recordEvent(platform: Handles & Pick<Platform, 'now'>, event: AuditEvent): Promise<void> {
  const { actor, target, details } = event
  const kind = target?.kind ?? ''
  const draft = {
    workspace_id: event.workspaceId ?? installation,
    at: platform.now().toISOString(),
    actor_kind: actor.kind,
    actor_id: actor.id,
    credential: event.credential ?? null,
    operation: event.operation,
    target_kind: kind,
    target_ids: target?.ids ?? [],
    request_id: event.requestId ?? null,
    network: event.network ?? '',
    person: event.person ?? actor.id,
    // One change of several objects names none of them.
    changes: details ? [{ kind, id: target?.ids.length === 1 ? (target.ids[0] ?? '') : '', after: details }] : [],
  }
  await insertEntries(platform.db, await sealDrafts(platform, [draft]))
}

/** Records the request of this context. */
export async function recordWrite(ctx: Ctx, performed: Performed): Promise<void> {
  const entries = await buildEntries(ctx, [{ ctx, performed }])
  const copies = ctx.record?.operation === 'deleteWorkspace' ? entries.map(toInstallation) : []
  await insertEntries(ctx.db, [...entries, ...copies])
}

/** The chain of a deleted workspace is erased; that of the installation still says who deleted it. */
function toInstallation(entry: NewEntry): NewEntry {
  return { ...entry, workspace_id: installation }
}

/** Builds the entries of requests that share a statement or transaction; requests that are not audited have none. */
export async function buildEntries(
  handles: Handles,
  requests: { ctx: Ctx; performed: Performed }[],
): Promise<NewEntry[]> {
  return sealDrafts(
    handles,
    requests.flatMap(({ ctx, performed }) => draftEntry(ctx, performed) ?? []),
  )
}

function draftEntry(ctx: Ctx, performed: Performed): Draft | undefined {
  const { actor, record } = ctx
  if (!record) return undefined
  const { targetIds, changes } = describeWrite(record.noun, record.changes, performed)
  return {
    workspace_id: ctx.workspaceId || (findWorkspace(record.noun, performed) ?? installation),
    at: ctx.now().toISOString(),
    actor_kind: actor.kind,
    actor_id: actor.id,
    credential: (actor.kind === 'user' ? actor.sessionId : actor.id) ?? null,
    operation: record.operation,
    target_kind: record.noun,
    target_ids: targetIds,
    request_id: ctx.requestId,
    network: record.network,
    person: findPerson(actor),
    changes,
  }
}

/** The workspace that a user without one created, joined or left. */
function findWorkspace(noun: string, { result }: Performed): string | undefined {
  const { id, workspaceId } = (result ?? {}) as { id?: string; workspaceId?: string }
  return noun === 'workspaces' ? id : workspaceId
}

/** Whose key encrypts where a request came from: the user also of a personal key, so that one deletion erases all. */
export function findPerson(actor: Actor): string {
  return (actor.kind === 'key' ? actor.userId : undefined) ?? actor.id
}

async function sealDrafts(handles: Handles, drafts: Draft[]): Promise<NewEntry[]> {
  const keys = await keysFor(handles, drafts)
  const sealValue: SealValue = (person, value) => {
    const key = keys.get(person)
    return { $person: person, $sealed: key ? sealFor(key, person, value).toString('base64') : '' }
  }
  return drafts.map(({ network, changes, ...draft }) => {
    const key = keys.get(draft.person)
    const sealed = network && key ? sealFor(key, draft.person, network) : undefined
    return {
      ...draft,
      sealed_network: sealed ? `\\x${sealed.toString('hex')}` : null,
      changes: storeChanges(changes, sealValue),
    }
  })
}

/** The keys of actors, mostly cached, and of the persons in changes. */
async function keysFor(handles: Handles, drafts: Draft[]): Promise<PersonKeys> {
  const known: PersonKeys = new Map()
  const persons = drafts.flatMap(({ changes }) => personsIn(changes))
  for (const { person, network } of drafts) {
    const key = cachedActorKey(handles, person)
    if (key) known.set(person, key)
    else if (network) persons.push(person)
  }
  const missing = persons.filter((person) => !known.has(person))
  return missing.length === 0 ? known : new Map([...known, ...(await makeKeys(handles, missing))])
}
