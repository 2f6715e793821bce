import { posix } from 'node:path'

export interface Source {
  path: string
  lineCount: number
  firstLine: string
  /** The file's text with comments blanked out; offsets are unchanged. */
  text: string
  /** The file's text with comments and string contents blanked out. */
  code: string
  /** The file's comments, with everything else blanked out. */
  comments: string
  /** String literals, and each part of a template literal between its placeholders. */
  strings: { value: string; offset: number; isWhole: boolean; isTaggedSql: boolean }[]
  imports: { specifier: string; target: string; isOurs: boolean; isTypeOnly: boolean; offset: number }[]
}

/** Parses TypeScript well enough for the rules of floors.ts, without a parser. */
export function readSource(path: string, content: string): Source {
  const spans = findSpans(content)
  const comments = spans.filter((span) => span.kind === 'comment')
  const text = blank(content, comments)
  const code = blank(content, spans)
  return {
    path,
    lineCount: content.split('\n').length - (content.endsWith('\n') ? 1 : 0),
    firstLine: content.split('\n', 1)[0] ?? '',
    text,
    code,
    comments: readComments(content, comments),
    strings: spans
      .filter((span) => span.kind === 'string')
      .map(({ start, end }) => ({
        value: content.slice(start + 1, end),
        offset: start,
        isWhole: content[start] !== '}' && content[end] !== '$',
        isTaggedSql: /\bsql(?:<[^<>]*>)?$/.test(content.slice(Math.max(0, start - 80), start)),
      })),
    imports: readImports(path, text, code),
  }
}

export function lineAt(source: Source, offset: number): number {
  return source.text.slice(0, offset).split('\n').length
}

interface Span {
  kind: 'comment' | 'string' | 'regex'
  start: number
  /** Offset of the closing quote, or of the character after a comment. */
  end: number
}

const regexMayFollow = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|case|typeof|of|in))\s*$/

function findSpans(content: string): Span[] {
  const spans: Span[] = []
  const openTemplates: number[] = []
  let braces = 0
  let at = 0
  while (at < content.length) {
    const start = at
    const char = content[at]
    const resumesTemplate = char === '}' && openTemplates.at(-1) === braces
    if (content.startsWith('//', at) || content.startsWith('/*', at)) {
      const close = content[at + 1] === '/' ? content.indexOf('\n', at) : content.indexOf('*/', at + 2) + 2
      at = close < 2 ? content.length : close
      spans.push({ kind: 'comment', start, end: at })
    } else if (char === "'" || char === '"') {
      at = findClose(content, at, char)
      spans.push({ kind: 'string', start, end: at++ })
    } else if (char === '`' || resumesTemplate) {
      if (resumesTemplate) openTemplates.pop()
      at = findClose(content, at, '`')
      spans.push({ kind: 'string', start, end: at })
      if (content[at] === '$') openTemplates.push(braces)
      at += content[at] === '$' ? 2 : 1
    } else if (char === '/' && regexMayFollow.test(content.slice(Math.max(0, at - 40), at))) {
      const end = findClose(content, at, '/')
      if (content[end] === '/') spans.push({ kind: 'regex', start, end })
      at = content[end] === '/' ? end + 1 : at + 1
    } else {
      if (char === '{') braces++
      if (char === '}') braces--
      at++
    }
  }
  return spans
}

const closings = {
  "'": /\\[\s\S]|'|\n/g,
  '"': /\\[\s\S]|"|\n/g,
  '`': /\\[\s\S]|`|\$\{/g,
  '/': /\\.|\[(?:\\.|[^\]\\\n])*\]|\/|\n/g,
}

function findClose(content: string, open: number, mark: keyof typeof closings): number {
  const closing = closings[mark]
  closing.lastIndex = open + 1
  for (let match = closing.exec(content); match; match = closing.exec(content)) {
    if (!/^[\\[]/.test(match[0])) return match.index
  }
  return content.length
}

function blank(content: string, spans: Span[]): string {
  let result = ''
  let at = 0
  for (const { kind, start, end } of spans) {
    const from = kind === 'comment' ? start : start + 1
    result += content.slice(at, from) + content.slice(from, end).replace(/[^\n]/g, ' ')
    at = end
  }
  return result + content.slice(at)
}

function readComments(content: string, spans: Span[]): string {
  let result = ''
  for (const { start, end } of spans) {
    result += content.slice(result.length, start).replace(/[^\n]/g, ' ') + content.slice(start, end)
  }
  return result
}

const importPattern =
  /\b(?:import|export)\b(?:[\w\s*{},$]*?\bfrom)?\s*(['"])([^'"\n]+)\1|\bimport\s*\(\s*(['"])([^'"\n]+)\3/g

function readImports(path: string, text: string, code: string): Source['imports'] {
  return [...text.matchAll(importPattern)]
    .filter((match) => code.startsWith(match[0].slice(0, 6), match.index))
    .map((match) => {
      const specifier = match[2] ?? match[4] ?? ''
      const target = resolveTarget(path, specifier)
      const isTypeOnly = /^(import|export)\s+type\b/.test(match[0])
      const offset = match.index + match[0].lastIndexOf(specifier)
      return { specifier, target, isOurs: target !== specifier, isTypeOnly, offset }
    })
}

function resolveTarget(path: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(path), specifier)
  const [, workspace, file] = specifier.match(/^@tributary\/([^/]+)(?:\/(.+))?$/) ?? []
  return workspace ? `${workspace}/src/${file ?? 'index'}.ts` : specifier
}
