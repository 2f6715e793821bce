import { invalid } from '../../platform/errors.ts'

export type Operator = '=' | '!=' | '>' | '>=' | '<' | '<='
export type Condition = { path: string[]; operator: Operator; value: string }
export type MetadataQuery = Condition | { all: MetadataQuery[] } | { any: MetadataQuery[] }

const mostConditions = 50
const mostNested = 20

/**
 * Parses `metadata['plan']:'pro' AND (metadata['seats']>=5 OR metadata['address']['city']!='Berlin')`; AND binds closer
 * than OR.
 */
export function parseMetadataQuery(text: string): MetadataQuery {
  const reader: Reader = { text, at: 0, conditions: 0, nested: 0 }
  const query = readAny(reader)
  skipBlanks(reader)
  if (reader.at < text.length) throw wrong(reader, 'AND, OR or the end')
  return query
}

type Reader = { text: string; at: number; conditions: number; nested: number }

function readAny(reader: Reader): MetadataQuery {
  const any = [readAll(reader)]
  while (takeWord(reader, 'OR')) any.push(readAll(reader))
  return any.length === 1 ? (any[0] as MetadataQuery) : { any }
}

function readAll(reader: Reader): MetadataQuery {
  const all = [readOne(reader)]
  while (takeWord(reader, 'AND')) all.push(readOne(reader))
  return all.length === 1 ? (all[0] as MetadataQuery) : { all }
}

function readOne(reader: Reader): MetadataQuery {
  if (!take(reader, '(')) return readCondition(reader)
  reader.nested += 1
  if (reader.nested > mostNested) throw problem(`has more than ${mostNested} levels of nested parentheses`, reader.at)
  const query = readAny(reader)
  if (!take(reader, ')')) throw wrong(reader, 'AND, OR or `)`')
  reader.nested -= 1
  return query
}

function readCondition(reader: Reader): Condition {
  skipBlanks(reader)
  if (!reader.text.startsWith('metadata', reader.at)) throw wrong(reader, "`metadata['key']` or `(`")
  reader.conditions += 1
  if (reader.conditions > mostConditions) throw problem(`has more than ${mostConditions} conditions`, reader.at + 1)
  reader.at += 'metadata'.length
  const path: string[] = []
  while (take(reader, '[')) {
    path.push(readText(reader, /[^\s[\]'"]+/y, "a key in quotes, such as `['plan']`"))
    if (!take(reader, ']')) throw wrong(reader, '`]` after the key')
  }
  if (path.length === 0) throw wrong(reader, "a key, such as `metadata['plan']`")
  const operator = readOperator(reader)
  return { path, operator, value: readText(reader, /[^\s()'"]+/y, "a value in quotes, such as `'pro'`") }
}

const operators = [':', '=', '!=', '>=', '<=', '>', '<'] as const

function readOperator(reader: Reader): Operator {
  const operator = operators.find((sign) => take(reader, sign))
  if (!operator) throw wrong(reader, 'one of `:`, `!=`, `>`, `>=`, `<`, `<=`')
  return operator === ':' ? '=' : operator
}

/** Reads a key or value: bare, or in single or double quotes, where a backslash escapes a quote or a backslash. */
function readText(reader: Reader, bare: RegExp, expected: string): string {
  skipBlanks(reader)
  const quote = reader.text[reader.at]
  if (quote !== "'" && quote !== '"') {
    bare.lastIndex = reader.at
    const [word] = bare.exec(reader.text) ?? []
    if (word === undefined) throw wrong(reader, expected)
    reader.at += word.length
    return word
  }
  let value = ''
  for (let at = reader.at + 1; at < reader.text.length; at++) {
    const letter = reader.text[at] as string
    if (letter === quote) {
      reader.at = at + 1
      return value
    }
    if (letter === '\\' && /['"\\]/.test(reader.text[at + 1] ?? '')) at += 1
    value += reader.text[at]
  }
  throw problem(`has a quote (${quote}) that is not closed`, reader.at + 1)
}

function takeWord(reader: Reader, word: string): boolean {
  skipBlanks(reader)
  const end = reader.at + word.length
  if (reader.text.slice(reader.at, end).toUpperCase() !== word || /[\p{L}\p{N}_]/u.test(reader.text[end] ?? ''))
    return false
  reader.at = end
  return true
}

function take(reader: Reader, sign: string): boolean {
  skipBlanks(reader)
  if (!reader.text.startsWith(sign, reader.at)) return false
  reader.at += sign.length
  return true
}

function skipBlanks(reader: Reader): void {
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at += 1
}

function wrong(reader: Reader, expected: string): Error {
  const found = reader.text.slice(reader.at, reader.at + 20)
  const where = found === '' ? 'its end' : `character ${reader.at + 1} (${JSON.stringify(found)})`
  return invalid(`\`query\` in the query has a syntax error at ${where}: expected ${expected}.`)
}

function problem(complaint: string, position: number): Error {
  return invalid(`\`query\` in the query ${complaint}, at character ${position}.`)
}
