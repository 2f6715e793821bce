import type { Random } from '../../../server/test/random.ts'
import { hostileTexts } from '../texts.ts'

export type Sent = { params: Record<string, string>; query: [string, string][]; body: unknown }

const numbers = [-1, 0, -0, 1.5, 2 ** 31, 2 ** 53, 2 ** 63, -(2 ** 63), 1e308, Number.MIN_VALUE, 1e21]
const lengths = [190, 191, 255, 256, 1_000, 2_001, 10_001, 32_001, 60_000]
const longLetters = ['x', 'é', '🙂', '%', '\\', '"', '\u0000']
const names = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'length',
  'a.b',
  '$ne',
  '\ud800',
  'id',
  'workspaceId',
  'n'.repeat(5_000),
]

/** Returns a value that the field probably does not accept. */
function hostileValue(random: Random): unknown {
  switch (random.below(9)) {
    case 0:
    case 1:
      return random.pick([...hostileTexts])
    case 2:
    case 3:
      return random.pick(numbers)
    case 4:
      return random.pick<unknown>([null, true, false, [], {}, [[]], [null], { '': '' }])
    case 5:
      return random.pick(longLetters).repeat(random.pick(lengths))
    case 6:
      return nested(random.pick([5, 29, 31, 32, 33, 100]), random)
    case 7:
      return Array(random.pick([2, 100, 101, 1_000, 7_000])).fill(random.pick<unknown>([1, 'a', null, {}, 'link_x']))
    default:
      return Object.fromEntries(Array.from({ length: random.pick([1, 50, 2_000]) }, (_, index) => [`k${index}`, index]))
  }
}

function nested(levels: number, random: Random): unknown {
  const isList = random.chance(0.5)
  return Array.from({ length: levels }).reduce<unknown>((inner) => (isList ? [inner] : { a: inner }), 1)
}

/** Changes one place: a field of the body at any depth, a parameter of the query, or a name in the path. */
export function mutate(sent: Sent, random: Random): void {
  const inPath = Object.keys(sent.params)
  const roll = random.below(10)
  if (roll === 0 && inPath.length > 0) {
    sent.params[random.pick(inPath)] = formatText(hostileValue(random)).slice(0, random.pick([10, 300, 4_000]))
  } else if (roll < 4 || sent.body === undefined) mutateQuery(sent, random)
  else sent.body = mutateBody(sent.body, random)
}

function mutateQuery({ query }: Sent, random: Random): void {
  const pair = query.length > 0 ? random.pick(query) : undefined
  if (!pair) return void query.push([random.pick(['unknown', 'page', 'limit', 'id', '']), 'x'])
  const roll = random.below(6)
  if (roll === 0) query.push([...pair])
  else if (roll === 1) pair[0] = `${pair[0]}[]`
  else if (roll === 2) query.push([pair[0], formatText(hostileValue(random)).slice(0, 2_000)])
  else pair[1] = formatText(hostileValue(random)).slice(0, random.pick([20, 4_000, 12_000]))
}

/** Descends to a random place and changes it. */
function mutateBody(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.1)) return hostileValue(random)
  if (Array.isArray(value)) {
    if (value.length === 0 || random.chance(0.2)) {
      return random.chance(0.5) ? [...value, hostileValue(random)] : Array(101).fill(value[0] ?? 1)
    }
    const at = random.below(value.length)
    return value.with(at, mutateBody(value[at], random))
  }
  const entries = Object.entries(value)
  if (entries.length === 0 || random.chance(0.15)) {
    return Object.fromEntries([...entries, [random.pick(names), hostileValue(random)]])
  }
  const at = random.below(entries.length)
  const [name, inner] = entries[at] as [string, unknown]
  if (random.chance(0.1)) return Object.fromEntries(entries.toSpliced(at, 1))
  return Object.fromEntries(
    entries.with(at, [name, random.chance(0.5) ? mutateBody(inner, random) : hostileValue(random)]),
  )
}

/** Changes the text of a JSON body so that parsers disagree about it. */
export function mutateText(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text)
  switch (random.below(10)) {
    case 0:
      return bytes.subarray(0, random.below(bytes.length + 1))
    case 1:
      return Buffer.concat([bytes, bytes])
    case 2:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
    case 3:
      return Buffer.from(text.replace('{', '{"url":"https://example.com/a","url":1,"__proto__":{"a":1},'))
    case 4:
      return Buffer.from(text, 'utf16le')
    case 5: {
      const changed = Buffer.from(bytes)
      for (let count = random.below(5) + 1; count > 0; count--)
        changed[random.below(changed.length)] = random.below(256)
      return changed
    }
    case 6:
      return Buffer.from(
        text.replace(/\d+/, random.pick(['1e999', '-0', '1E400', '0x10', '01', '9'.repeat(400), '1.'])),
      )
    case 7:
      return Buffer.from(
        text.replace(/"([^"]*)"(?=[,}\]])/, random.pick(['"\\ud800"', '"\\u0000"', '"\\x"', "'a'", 'NaN'])),
      )
    case 8:
      return Buffer.from(' '.repeat(random.pick([10, 60_000, 66_000])) + text)
    default:
      return Buffer.alloc(random.pick([0, 1, 1_000]), random.pick(['[', '{', '"', '\0', '1']))
  }
}

export function formatText(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed()
}
