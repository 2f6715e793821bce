import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const permissive = new Set([
  ...['MIT', 'MIT-0', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'Unlicense'],
  ...['CC0-1.0', 'CC-BY-3.0', 'CC-BY-4.0', 'Python-2.0', 'PSF-2.0', 'PostgreSQL', 'Zlib', 'BSL-1.0', 'Unicode-3.0'],
])

/** Packages with a licence that is not permissive, each with the accepted licence and the reason. */
const exceptions = [
  {
    name: /^lightningcss(-.+)?$/,
    licence: 'MPL-2.0',
    isOnlyForDevelopment: true,
    reason: 'a dependency of vite in vitest, used unchanged and not shipped',
  },
  {
    name: /^axe-core$/,
    licence: 'MPL-2.0',
    isOnlyForDevelopment: true,
    reason: 'finds accessibility faults in tests of pages, used unchanged and not shipped',
  },
  {
    name: /^@fontsource-variable\/inter$/,
    licence: 'OFL-1.1',
    isOnlyForDevelopment: false,
    reason:
      'a font, which its licence allows to ship with software of any licence; the dashboard ships the licence too',
  },
  {
    name: /^@ip-location-db\/dbip-country-mmdb$/,
    licence: 'SEE LICENSE IN DBIP-LICENSE (CC-BY-4.0)',
    isOnlyForDevelopment: false,
    reason: 'another spelling of CC BY 4.0; it is data, and the privacy guide credits DB-IP as the licence requires',
  },
]

/** Packages without a licence in their manifest: how their LICENSE file begins, and what licence that is. */
const undeclared: Record<string, { fileStart: RegExp; licence: string }> = {
  dub: { fileStart: /^MIT License\s/, licence: 'MIT' },
}

const ceilings = [{ name: 'ua-parser-js', below: 2, reason: 'versions from 2.0.0 on are AGPL' }]

export interface Package {
  name: string
  version: string
  licence: string
  isOnlyForDevelopment: boolean
  requiredBy: string[]
}

export function licenceFaults(packages: Package[]): string[] {
  return packages.flatMap(({ name, version, licence, isOnlyForDevelopment, requiredBy }) => {
    const who = `${name}@${version} (required by ${requiredBy.join(', ') || 'nobody'})`
    const ceiling = ceilings.find((rule) => rule.name === name && Number.parseInt(version, 10) >= rule.below)
    if (ceiling) return [`${who} must have a version below ${ceiling.below}: ${ceiling.reason}`]
    const isException = exceptions.some(
      (rule) =>
        rule.name.test(name) && rule.licence === licence && (isOnlyForDevelopment || !rule.isOnlyForDevelopment),
    )
    if (isPermissive(licence) || isException) return []
    return [`${who} is under ${licence || 'no stated licence'}, which is not on the list of permissive licences`]
  })
}

/** Whether an SPDX expression allows a permissive choice: one part of `OR`, all parts of `AND`. */
export function isPermissive(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? []
  const next = (word: string) => tokens[0] === word && tokens.shift() !== undefined
  const either = (): boolean => {
    let result = every()
    while (next('OR')) result = every() || result
    return result
  }
  const every = (): boolean => {
    let result = single()
    while (next('AND')) result = single() && result
    return result
  }
  const single = (): boolean => {
    if (next('(')) return [either(), next(')')].every(Boolean)
    const isKnown = permissive.has(tokens.shift() ?? '')
    // An SPDX exception (`WITH`) only adds permissions, so its name does not matter.
    return next('WITH') ? tokens.shift() !== undefined && isKnown : isKnown
  }
  return either() && tokens.length === 0
}

interface Manifest {
  name?: string
  version?: string
  license?: string | { type?: string }
  licenses?: { type?: string }[]
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  link?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** Lists the packages of the lock file for every platform, and all others in node_modules. */
function listPackages(root: string): Package[] {
  const locked: Record<string, Manifest> = readJson(join(root, 'package-lock.json')).packages
  const installed = globSync('node_modules/{*,@*/*}/package.json', { cwd: root }).map((path) => path.slice(0, -13))
  const paths = new Set([...Object.keys(locked), ...installed.filter((path) => !/\/(\.|@[^/]+$)/.test(path))])
  return [...paths]
    .filter((path) => path.includes('node_modules/') && !locked[path]?.link)
    .map((path) => {
      const name = nameAt(path)
      const file = join(root, path, 'package.json')
      const manifest: Manifest = existsSync(file) ? readJson(file) : {}
      return {
        name,
        version: locked[path]?.version ?? manifest.version ?? '',
        licence: statedIn(manifest) || statedIn(locked[path] ?? {}) || readFromFile(name, join(root, path, 'LICENSE')),
        // The image omits optional packages too, such as tools that a package of ours accepts as an optional peer.
        isOnlyForDevelopment: Boolean(locked[path]?.dev || locked[path]?.devOptional || locked[path]?.optional),
        requiredBy: Object.keys(locked)
          .filter((other) => requires(locked[other] ?? {}, name))
          .map(nameAt),
      }
    })
}

function nameAt(path: string): string {
  return path.split('node_modules/').at(-1) || 'the root package'
}

function statedIn({ license, licenses }: Manifest): string {
  const stated = typeof license === 'object' ? license.type : license
  return stated ?? licenses?.map(({ type }) => type).join(' OR ') ?? ''
}

function readFromFile(name: string, file: string): string {
  const known = undeclared[name]
  return known && existsSync(file) && known.fileStart.test(readFileSync(file, 'utf8')) ? known.licence : ''
}

function requires(manifest: Manifest, name: string): boolean {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest
  return [dependencies, devDependencies, optionalDependencies, peerDependencies].some((list) => list && name in list)
}

function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

if (import.meta.main) {
  const packages = listPackages(join(import.meta.dirname, '..'))
  const faults = licenceFaults(packages)
  for (const fault of faults) console.error(fault)
  console.log(`${packages.length} packages, ${faults.length} with a licence that is not allowed`)
  process.exitCode = faults.length > 0 ? 1 : 0
}
