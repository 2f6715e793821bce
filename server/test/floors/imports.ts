import { posix } from 'node:path'
import type { Source } from './source.ts'
import { type Check, type Finding, fileInFeature, findFloor, findNoun, isMaintenance, isStore, isTest } from './tree.ts'

/** The only contract file that browsers never load: it prints the OpenAPI document. */
const openApiPrinter = 'contract/src/openapi.ts'
const openApiPackages = /^(node:|@asteasolutions\/zod-to-openapi$)/
const httpParts = /^(hono|@hono\/.+|node:https?|node:http2|server\/src\/platform\/http\.ts)(\/|$)/
const databaseParts = /^(pg|kysely|@clickhouse\/client|server\/src\/platform\/(postgres|clickhouse)\.ts)(\/|$)/

/** Contract files that a page may load, because they import no zod. */
const withoutZod = /^contract\/src\/(client|endpoints|permissions)\.ts$/
/** Contract files that belong to no feature. */
const sharedContract = /^contract\/src\/(operation|permissions|common)\.ts$/
/** Platform files whose name contains that of a feature with another meaning: the process log, and any event. */
const platformWords = ['log', 'handled-events']
/** Feature names that are ordinary words in platform code: the header `Upgrade`, a folder on disk, a cipher's tag, a group of rows, a program, a tenant's share, a cipher's `getAuthTag`, a materialized view, who runs the installation. */
const ordinaryWords = [
  'auth',
  'docs',
  'events',
  'folders',
  'groups',
  'log',
  'operator',
  'programs',
  'shares',
  'tags',
  'tokens',
  'track',
  'upgrade',
  'views',
  'workspaces',
]
/** Domain terms besides the folder names of features. */
const innerNouns = ['clicks', 'conversions', 'leads', 'sales', 'spools']
/** Platform files that may mention features, and which; an empty list allows all. */
const allowedNouns: Record<string, string[]> = {
  // One list of settings for all features, so that no two share a name.
  settings: [],
  config: [],
  locks: [],
  // The database stores the type of dead letter.
  'dead-letters': ['conversions'],
  // The event of a PostgreSQL connection that listens.
  outbox: ['notifications'],
  // Contract operations choose this rate limit.
  'rate-limit': ['analytics'],
  // A link is OpenTelemetry's term for a reference to another span.
  otlp: ['links'],
  tracing: ['links'],
}

interface Edge {
  from: string
  to: string
  /** Path within the feature; empty outside of features. */
  file: string
  toFile: string
  isOurs: boolean
  isTypeOnly: boolean
  /** Whether the import goes from one feature to another. */
  isForeign: boolean
}

/** Checks of imports; each message describes a forbidden import. */
export const importChecks = {
  'imports-go-down': perImport(({ from, to, isOurs }) => {
    const [floor, toFloor] = [findFloor(from), findFloor(to)]
    if (!isOurs || !floor) return false
    if (toFloor === undefined) return 'is test code, which does not ship'
    return toFloor > floor && 'is in a layer above; take it as an argument, or subscribe to a message'
  }),

  'contract-alone': perImport(({ from, to }) => {
    if (findFloor(from) !== 0 || findFloor(to) === 0 || /^zod(\/|$)/.test(to)) return false
    if (from === openApiPrinter && openApiPackages.test(to)) return false
    return 'is not allowed in the contract (only itself and zod)'
  }),

  'clients-know-only-contract': perImport(({ from, to, isOurs, isTypeOnly }) => {
    const client = from.match(/^(dashboard\/|cli\/|tracker\/src\/)/)?.[0]
    if (!client || to.startsWith(client)) return false
    if (client === 'tracker/src/') return 'is a package, and the tracker must not import packages'
    if (client === 'dashboard/' && findFloor(to) === 0 && !isTypeOnly && !withoutZod.test(to))
      return 'loads zod into the page; use `import type`'
    return isOurs && findFloor(to) !== 0 && 'is not allowed in clients, which import only the contract and themselves'
  }),

  'parts-know-no-nouns': perImport(({ from, to }) => {
    if (!/^dashboard\/src\/(ui|charts)\//.test(from) || !/^dashboard\/src\/(app|features)\//.test(to)) return false
    return 'is not allowed in ui/ and charts/, which know no nouns; take it as a property'
  }),

  'faces-only': perImport(({ from, to, toFile, isForeign }) => {
    if (isForeign && isMaintenance(to))
      return 'is maintenance code, which features must not import; let roles/worker.ts start its job'
    if (isForeign) {
      return !isFile(toFile, 'service', 'messages') && "is another feature's inside; use its service.ts or messages.ts"
    }
    const isFromAbove = (findFloor(from) ?? 0) > 2
    return isFromAbove && isStore(toFile) && `is private to ${findNoun(to)}/; call the function that uses it`
  }),

  'redirect-alone': perImport(({ from, to, toFile }) => {
    if (from !== 'server/src/roles/redirect.ts' || findNoun(to) === 'redirect') return false
    return isFile(toFile, 'routes', 'jobs') && 'is not allowed in the redirect role, which loads only features/redirect'
  }),

  'routes-duty': perImport(({ file, to, toFile, isForeign }) => {
    if (!isFile(file, 'routes')) return false
    const isWrong = isForeign || isStore(toFile) || isFile(toFile, 'jobs') || databaseParts.test(to)
    return isWrong && 'is not allowed in routes.ts, which only binds contract operations to its own service'
  }),

  'jobs-duty': perImport(({ file, to, toFile, isForeign }) => {
    if (!isFile(file, 'jobs')) return false
    const isForeignCall = isForeign && !isFile(toFile, 'messages')
    const isWrong = isStore(toFile) || isFile(toFile, 'routes') || databaseParts.test(to) || httpParts.test(to)
    return (
      (isForeignCall || isWrong) &&
      'is not allowed in jobs.ts, which only binds messages and schedules to its own service'
    )
  }),

  'service-duty': perImport(({ file, to, toFile }) => {
    if (file === '' || isStore(file) || isFile(file, 'routes', 'jobs', 'messages')) return false
    const isWrong = isFile(toFile, 'routes', 'jobs') || httpParts.test(to)
    return isWrong && 'is not allowed in a service, which must not depend on HTTP or its callers'
  }),

  'store-duty': perImport(({ file, to, toFile, isForeign }) => {
    if (!isStore(file)) return false
    const isAbove =
      isFile(toFile, 'routes', 'jobs', 'service') || httpParts.test(to) || to.endsWith('/platform/jobs.ts')
    return (
      (isForeign || isAbove) &&
      'is not allowed in a store, which knows only its database and rows; combine data in the service'
    )
  }),

  'messages-duty': perImport(({ file, to }) => {
    if (!isFile(file, 'messages') || findFloor(to) === 0 || /^zod(\/|$)/.test(to)) return false
    return 'is not allowed in messages.ts, which has only subjects and zod schemas'
  }),

  'service-per-feature': ({ product }) => {
    const paths = new Set(product.map(({ path }) => path))
    const lacks = (file: string) => {
      const noun = findNoun(file)
      return !isMaintenance(file) && !paths.has(`server/src/features/${noun}/service.ts`)
    }
    return product
      .filter(({ path }) => isFile(fileInFeature(path), 'routes', 'jobs') && lacks(path))
      .map((source) => ({
        source,
        message: 'is an entry point of a feature without service.ts; add a service.ts that it calls',
      }))
  },

  'noun-in-platform': ({ product }) => {
    const nouns = new Set(product.flatMap(({ path }) => findNoun(path) ?? []))
    return product
      .filter(({ path }) => findFloor(path) === 1)
      .flatMap((source): Finding[] => {
        const name = posix.basename(source.path, '.ts')
        const noun = [...nouns].find((noun) => !platformWords.includes(name) && namesNoun(name, noun))
        const inside = nounInside(source, name, nouns)
        const contract = source.imports.find(({ target }) => findFloor(target) === 0 && !sharedContract.test(target))
        if (noun) return [{ source, message: `is named after the feature ${noun}; move it to features/${noun}/` }]
        if (inside) return [inside]
        if (!contract) return []
        const message = `imports ${contract.target}, which belongs to a feature; take the value as an argument, or move the file to that feature`
        return [{ source, offset: contract.offset, message }]
      })
  },

  'no-file-cycle': ({ product }) => {
    const files = new Map(product.map((source) => [source.path, source]))
    const imports = new Map<string, Map<string, Finding>>()
    for (const source of product) {
      const ours = source.imports.filter(({ target }) => files.has(target) && target !== source.path)
      const found = ours.map(({ target, offset }): [string, Finding] => [target, { source, offset, message: '' }])
      imports.set(source.path, new Map(found))
    }
    return findCycles(imports).flatMap((cycle) => {
      const closing = imports.get(cycle.at(-2) ?? '')?.get(cycle.at(-1) ?? '')
      const message = `closes the import cycle ${cycle.join(' -> ')}; move the shared code below them`
      return closing ? [{ ...closing, message }] : []
    })
  },

  'no-call-cycle': ({ product }) => {
    const calls = new Map<string, Map<string, Finding>>()
    for (const source of product) {
      for (const { target, offset } of source.imports) {
        const { isForeign, toFile } = buildEdge(source, target, { isOurs: true, isTypeOnly: false })
        const [noun, called] = [findNoun(source.path), findNoun(target)]
        if (!isForeign || !noun || !called || !isFile(toFile, 'service')) continue
        const callees = calls.get(noun) ?? new Map<string, Finding>()
        calls.set(noun, callees.set(called, { source, offset, message: '' }))
      }
    }
    return findCycles(calls).flatMap((cycle) => {
      const call = calls.get(cycle.at(-2) ?? '')?.get(cycle.at(-1) ?? '')
      const message = `closes the call cycle ${cycle.join(' -> ')}; let the lower feature subscribe to a message instead`
      return call ? [{ ...call, message }] : []
    })
  },
} satisfies Record<string, Check>

function perImport(judge: (edge: Edge) => string | false): Check {
  return ({ sources }) =>
    sources
      .filter(({ path }) => !isTest(path))
      .flatMap((source) =>
        source.imports.flatMap(({ target, isOurs, isTypeOnly, offset }) => {
          const fault = judge(buildEdge(source, target, { isOurs, isTypeOnly }))
          return fault ? [{ source, offset, message: `imports ${target}, which ${fault}` }] : []
        }),
      )
}

function buildEdge(source: Source, to: string, facts: Pick<Edge, 'isOurs' | 'isTypeOnly'>): Edge {
  const from = source.path
  const isForeign = findNoun(from) !== undefined && findNoun(to) !== undefined && findNoun(from) !== findNoun(to)
  return { from, to, file: fileInFeature(from), toFile: fileInFeature(to), ...facts, isForeign }
}

/** Finds feature names in identifiers and strings; skips setting names (`WEBHOOK_CONCURRENCY`), which have one list. */
function nounInside(source: Source, name: string, features: Set<string>): Finding | undefined {
  const allowed = allowedNouns[name] ?? ordinaryWords
  if (allowed.length === 0) return undefined
  const nouns = [...features, ...innerNouns].filter((noun) => !ordinaryWords.includes(noun) && !allowed.includes(noun))
  for (const { 0: word, index } of source.text.matchAll(/[a-zA-Z][\w$-]*/g)) {
    const isImport = source.imports.some(
      ({ offset, specifier }) => index >= offset && index < offset + specifier.length,
    )
    if (isImport || /^[A-Z][A-Z0-9_]+$/.test(word)) continue
    const kebab = word
      .replace(/click_?house/gi, 'engine')
      .replace(/([a-z0-9])(?=[A-Z])|_/g, '$1-')
      .toLowerCase()
    const noun = nouns.find((noun) => namesNoun(kebab, noun))
    if (noun)
      return {
        source,
        offset: index,
        message: `mentions the feature ${noun} (${word}); let the feature declare it and pass it in`,
      }
  }
  return undefined
}

/** Whether a file name contains the feature's name, as singular or plural: `click-id-keys` and `click-ids`. */
function namesNoun(name: string, noun: string): boolean {
  const singular = (text: string) => `-${text}-`.replace(/s-/g, '-')
  return singular(name).includes(singular(noun))
}

function isFile(file: string, ...names: string[]): boolean {
  return names.some((name) => file === `${name}.ts`)
}

/** Returns each import cycle once, as feature names with the first repeated at the end. */
function findCycles(calls: Map<string, Map<string, unknown>>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const visit = (noun: string, path: string[]) => {
    if (path.includes(noun)) cycles.push([...path.slice(path.indexOf(noun)), noun])
    if (path.includes(noun) || done.has(noun)) return
    for (const called of calls.get(noun)?.keys() ?? []) visit(called, [...path, noun])
    done.add(noun)
  }
  for (const noun of calls.keys()) visit(noun, [])
  return cycles
}
