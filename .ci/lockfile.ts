import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Dependencies = Record<string, string>

export interface Manifest {
  dependencies?: Dependencies
  devDependencies?: Dependencies
  optionalDependencies?: Dependencies
}

export interface LockedPackage extends Manifest {
  resolved?: string
  integrity?: string
  link?: boolean
  optional?: boolean
}

/** Checks that the lock file has hashes and no host names, so that it installs from any configured registry. */
export function hostFaults(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages).flatMap(([path, { resolved, integrity, link, optional }]) => {
    if (resolved && /^(git\+)?(https?|ssh|git):/.test(resolved)) return [`${path} is bound to the registry ${resolved}`]
    // Optional packages may lack a hash: the registry may not know a binary for another platform.
    const needsHash = path.includes('node_modules/') && !link && !optional
    return needsHash && !integrity ? [`${path} has no integrity hash`] : []
  })
}

/** Lists differences between a package.json and its entry in the lock file. */
export function driftFaults(path: string, manifest: Manifest, locked: LockedPackage = {}): string[] {
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'] as const
  return kinds.flatMap((kind) => {
    const [asked, pinned] = [manifest[kind] ?? {}, locked[kind] ?? {}]
    return [...new Set([...Object.keys(asked), ...Object.keys(pinned)])]
      .filter((name) => asked[name] !== pinned[name])
      .map(
        (name) =>
          `${path} requires ${name} ${asked[name] ?? '(not at all)'}, the lock file has ${pinned[name] ?? 'no version'}`,
      )
  })
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  const packages: Record<string, LockedPackage> = read('package-lock.json').packages
  const own = Object.keys(packages).filter((path) => !path.includes('node_modules'))
  const faults = [
    ...hostFaults(packages),
    ...own.flatMap((path) => driftFaults(join(path, 'package.json'), read(join(path, 'package.json')), packages[path])),
  ]
  for (const fault of faults) console.error(`package-lock.json: ${fault}`)
  if (faults.length > 0) console.error('Run npm install in this folder; its .npmrc keeps hosts out of the lock file.')
  process.exitCode = faults.length > 0 ? 1 : 0
}
