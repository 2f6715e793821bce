import type { Platform } from '../../platform/context.ts'
import type { SecretKeys } from '../../platform/seal.ts'
import { hashChain, hashEntry } from './chain.ts'
import {
  type ChainRow,
  countUnsealed,
  type SealedRow,
  selectChain,
  selectChainNames,
  selectSealed,
} from './chain-store.ts'

/** A place where the audit log is not as it was sealed. */
export type AuditFinding = {
  workspaceId: string
  /** Position in the chain, from 1; null when the finding is about the whole chain. */
  sequence: string | null
  problem: 'changed' | 'missing' | 'moved' | 'chain changed' | 'not sealed'
  detail: string
}

type Handles = Pick<Platform, 'db' | 'config'>
type Suspect = { row: SealedRow; previous: Buffer }

const chainsAtOnce = 500
const rowsAtOnce = 1_000
const mostSuspects = 20
const mostFindings = 1_000
const unsealedAfterMs = 60_000

/** Checks every chain, or the chain of one workspace. */
export async function verifyChains(
  platform: Handles,
  { workspaceId }: { workspaceId?: string },
): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = []
  for await (const name of chainNames(platform, workspaceId)) {
    findings.push(...(await verifyChain(platform, name)))
    if (findings.length > mostFindings) return findings.slice(0, mostFindings)
  }
  const late = await countUnsealed(platform.db, new Date(Date.now() - unsealedAfterMs))
  if (late > 0 && workspaceId === undefined) {
    const detail = `${late} entries wait for a worker. Check that a worker is running.`
    findings.push({ workspaceId: '', sequence: null, problem: 'not sealed', detail })
  }
  return findings
}

async function* chainNames({ db }: Handles, workspaceId: string | undefined): AsyncGenerator<string> {
  if (workspaceId !== undefined) return yield workspaceId
  for (let after = ''; ; ) {
    const names = await selectChainNames(db, after, chainsAtOnce)
    yield* names
    if (names.length < chainsAtOnce) return
    after = names.at(-1) as string
  }
}

async function verifyChain(platform: Handles, name: string): Promise<AuditFinding[]> {
  const chain = await selectChain(platform.db, name)
  const found = await checkRows(platform, name, chain)
  // Retention may have removed entries meanwhile.
  const now = await selectChain(platform.db, name)
  return now && chain && now.removed_sequence !== chain.removed_sequence ? checkRows(platform, name, now) : found
}

async function checkRows({ db, config }: Handles, name: string, chain: ChainRow | undefined): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = []
  const report = (sequence: bigint | null, problem: AuditFinding['problem'], detail: string) =>
    findings.push({ workspaceId: name, sequence: sequence === null ? null : String(sequence), problem, detail })
  const keys = config.ENCRYPTION_KEYS
  if (chain && !hashChain(keys, chain.hash_key, chain).equals(chain.mac)) {
    report(null, 'chain changed', 'The ends of the chain in audit_chains were changed.')
  }
  const suspects: Suspect[] = []
  let last = chain?.removed_sequence ?? 0n
  let previous = chain?.removed_hash ?? Buffer.alloc(0)
  for (let isMore = true; isMore; ) {
    const rows = await selectSealed(db, name, { after: last, count: rowsAtOnce })
    isMore = rows.length === rowsAtOnce
    for (const row of rows) {
      const gap = row.sequence - last - 1n
      if (gap > 0n) report(last + 1n, 'missing', `${gap} entries are missing before entry ${row.number}.`)
      else if (!hashEntry(keys, row.hash_key, row, { sequence: row.sequence, previous }).equals(row.hash)) {
        if (suspects.length < mostSuspects) suspects.push({ row, previous })
        else report(row.sequence, 'changed', `Entry ${row.number} is not as it was sealed.`)
      }
      last = row.sequence
      previous = row.hash
      if (findings.length > mostFindings) return findings
    }
    // Entries that were sealed after the end was read are not part of this check.
    if (chain && last >= chain.sequence) break
  }
  for (const { row } of suspects) {
    const home = findHome(keys, row, suspects)
    if (home === undefined) report(row.sequence, 'changed', `Entry ${row.number} is not as it was sealed.`)
    else if (home !== row.sequence) report(row.sequence, 'moved', `Entry ${row.number} was sealed as ${home}.`)
  }
  if (!chain && last > 0n) report(null, 'chain changed', 'The row of the chain in audit_chains is missing.')
  if (chain && last < chain.sequence) {
    const count = chain.sequence - last
    report(last + 1n, 'missing', `${count} entries are missing at the end of the chain.`)
  }
  return findings
}

/** Finds the place where an entry was sealed, among the places whose hashes do not match; undefined if it was changed. */
function findHome(keys: SecretKeys, row: SealedRow, suspects: Suspect[]): bigint | undefined {
  const hashes = suspects.flatMap((suspect) => [suspect.previous, suspect.row.hash])
  const sequences = suspects.map((suspect) => suspect.row.sequence)
  return sequences.find((sequence) =>
    hashes.some((previous) => hashEntry(keys, row.hash_key, row, { sequence, previous }).equals(row.hash)),
  )
}
