import { posix } from 'node:path'
import type { Source } from './source.ts'
import { type Check, type Finding, fileInFeature, findFloor, findNoun, isMaintenance, isStore, isTest } from './tree.ts'

/** The only contract file that no browser loads: it prints the document. */
const openApiPrinter = 'contract/src/openapi.ts'
const openApiPackages = /^(node:|@asteasolutions\/zod-to-openapi$)/
const httpParts = /^(hono|@hono\/.+|node:https?|node:http2|server\/src\/platform\/http\.ts)(\/|$)/
const databaseParts = /^(pg|kysely|@clickhouse\/client|server\/src\/platform\/(postgres|clickhouse)\.ts)(\/|$)/

/** Parts of the contract without a noun. */
const sharedContract = /^contract\/src\/(operation|common)\.ts$/
/** Platform files that share a word with a feature but mean another thing: the process log, and any event. */
const platformWords = ['log', 'handled-events']
/** Features whose name is an ordinary word here: the HTTP header `Upgrade`, a folder on a disk, the tag of a cipher. */
const ordinaryWords = ['docs', 'events', 'folders', 'log', 'tags', 'tokens', 'track', 'upgrade', 'workspaces']
/** Nouns of features without their own folder. */
const innerNouns = ['clicks', 'conversions', 'leads', 'sales', 'spools']
/** Files that may name nouns, and which; an empty list allows all. */
const allowedNouns: Record<string, string[]> = {
  // One list for all features, so that no two use the same name or number.
  settings: [],
  config: [],
  locks: [],
  // Rows store the kind.
  'dead-letters': ['conversions'],
  // Operations of the contract choose this limit.
  'rate-limit': ['analytics'],
  // OpenTelemetry's word for a span that refers to another.
  otlp: ['links'],
  tracing: ['links'],
}

interface Edge {
  from: string
  to: string
  /** The path within the feature; empty outside of features. */
  file: string
  toFile: string
  isOurs: boolean
  /** Both ends are in features, but not in the same one. */
  isForeign: boolean
}

/** Each check describes the forbidden import. */
export const importChecks = {
  'imports-go-down': perImport(({ from, to, isOurs }) => {
    const [floor, toFloor] = [findFloor(from), findFloor(to)]
    if (!isOurs || !floor) return false
    if (toFloor === undefined) return 'is no part of what ships'
    return toFloor > floor && 'is a floor above; take it as an argument, or listen to a message'
  }),

  'contract-alone': perImport(({ from, to }) => {
    if (findFloor(from) !== 0 || findFloor(to) === 0 || /^zod(\/|$)/.test(to)) return false
    if (from === openApiPrinter && openApiPackages.test(to)) return false
    return 'is more than the contract may know: itself and zod'
  }),

  'clients-know-only-contract': perImport(({ from, to, isOurs }) => {
    const client = from.match(/^(dashboard\/|cli\/|tracker\/src\/)/)?.[0]
    if (!client || to.startsWith(client)) return false
    if (client === 'tracker/src/') return 'is a dependency, and the tracker has none'
    return isOurs && findFloor(to) !== 0 && 'is not for clients; they know the contract and themselves'
  }),

  'faces-only': perImport(({ from, to, toFile, isForeign }) => {
    if (isForeign && isMaintenance(to)) return 'calls features and is called by none; let roles/worker.ts bind its job'
    if (isForeign) {
      return !isFile(toFile, 'service', 'messages') && "is another feature's inside; use its service.ts or messages.ts"
    }
    const isFromAbove = (findFloor(from) ?? 0) > 2
    return isFromAbove && isStore(toFile) && `is for ${findNoun(to)}/ alone; call what uses it`
  }),

  'redirect-alone': perImport(({ from, to, toFile }) => {
    if (from !== 'server/src/roles/redirect.ts' || findNoun(to) === 'redirect') return false
    return isFile(toFile, 'routes', 'jobs') && 'is not for the redirect role, which loads features/redirect only'
  }),

  'routes-duty': perImport(({ file, to, toFile, isForeign }) => {
    if (!isFile(file, 'routes')) return false
    const isWrong = isForeign || isStore(toFile) || isFile(toFile, 'jobs') || databaseParts.test(to)
    return isWrong && 'is not for routes.ts, which binds operations of the contract to its own service'
  }),

  'jobs-duty': perImport(({ file, to, toFile, isForeign }) => {
    if (!isFile(file, 'jobs')) return false
    const isForeignCall = isForeign && !isFile(toFile, 'messages')
    const isWrong = isStore(toFile) || isFile(toFile, 'routes') || databaseParts.test(to) || httpParts.test(to)
    return (isForeignCall || isWrong) && 'is not for jobs.ts, which binds messages and schedules to its own service'
  }),

  'service-duty': perImport(({ file, to, toFile }) => {
    if (file === '' || isStore(file) || isFile(file, 'routes', 'jobs', 'messages')) return false
    const isWrong = isFile(toFile, 'routes', 'jobs') || httpParts.test(to)
    return isWrong && 'is not for a service, which decides without knowing HTTP or who called'
  }),

  'store-duty': perImport(({ file, to, toFile, isForeign }) => {
    if (!isStore(file)) return false
    const isAbove =
      isFile(toFile, 'routes', 'jobs', 'service') || httpParts.test(to) || to.endsWith('/platform/jobs.ts')
    return (isForeign || isAbove) && 'is not for a store, which knows its database and its rows; let the service join'
  }),

  'messages-duty': perImport(({ file, to }) => {
    if (!isFile(file, 'messages') || findFloor(to) === 0 || /^zod(\/|$)/.test(to)) return false
    return 'is not for messages.ts, which is subjects and zod schemas made from the contract'
  }),

  'service-per-feature': ({ product }) => {
    const paths = new Set(product.map(({ path }) => path))
    const lacks = (file: string) => {
      const noun = findNoun(file)
      return !isMaintenance(file) && !paths.has(`server/src/features/${noun}/service.ts`)
    }
    return product
      .filter(({ path }) => isFile(fileInFeature(path), 'routes', 'jobs') && lacks(path))
      .map((source) => ({ source, message: 'is a door of a feature without service.ts; write one for it to call' }))
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
        const message = `imports ${contract.target}, which states a noun; take the value as an argument, or move the file to its feature`
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
        const { isForeign, toFile } = buildEdge(source, target, true)
        const [noun, called] = [findNoun(source.path), findNoun(target)]
        if (!isForeign || !noun || !called || !isFile(toFile, 'service')) continue
        const callees = calls.get(noun) ?? new Map<string, Finding>()
        calls.set(noun, callees.set(called, { source, offset, message: '' }))
      }
    }
    return findCycles(calls).flatMap((cycle) => {
      const call = calls.get(cycle.at(-2) ?? '')?.get(cycle.at(-1) ?? '')
      const message = `closes the call cycle ${cycle.join(' -> ')}; let the lower noun subscribe to a message instead`
      return call ? [{ ...call, message }] : []
    })
  },
} satisfies Record<string, Check>

function perImport(judge: (edge: Edge) => string | false): Check {
  return ({ sources }) =>
    sources
      .filter(({ path }) => !isTest(path))
      .flatMap((source) =>
        source.imports.flatMap(({ target, isOurs, offset }) => {
          const fault = judge(buildEdge(source, target, isOurs))
          return fault ? [{ source, offset, message: `imports ${target}, which ${fault}` }] : []
        }),
      )
}

function buildEdge(source: Source, to: string, isOurs: boolean): Edge {
  const from = source.path
  const isForeign = findNoun(from) !== undefined && findNoun(to) !== undefined && findNoun(from) !== findNoun(to)
  return { from, to, file: fileInFeature(from), toFile: fileInFeature(to), isOurs, isForeign }
}

/** Words of identifiers and strings. Setting names (`WEBHOOK_CONCURRENCY`) come from one list and are skipped. */
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
      return { source, offset: index, message: `names ${noun} (${word}); let the feature declare it and hand it in` }
  }
  return undefined
}

/** Whether a file name has the noun among its words, as singular or plural: `click-id-keys` and `click-ids`. */
function namesNoun(name: string, noun: string): boolean {
  const singular = (text: string) => `-${text}-`.replace(/s-/g, '-')
  return singular(name).includes(singular(noun))
}

function isFile(file: string, ...names: string[]): boolean {
  return names.some((name) => file === `${name}.ts`)
}

/** Each cycle once, as its nouns with the first one repeated at the end. */
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
