import { stripVTControlCharacters } from 'node:util'
import { type ArgsDef, type CommandDef, parseArgs } from 'citty'

/** Describes what is wrong with a command line, or undefined. citty would ignore most of these mistakes. */
export async function argumentProblem(command: CommandDef, words: string[]): Promise<string | undefined> {
  let [at, rest, name] = [command, words, 'tributary']
  while (at.subCommands) {
    const known = (await resolved(at.subCommands)) ?? {}
    const [word, ...others] = rest
    if (word === undefined) return undefined
    if (!Object.hasOwn(known, word))
      return `There is no command ${name} ${word}. Known: ${Object.keys(known).join(', ')}.`
    at = (await resolved(known[word])) as CommandDef
    rest = others
    name = `${name} ${word}`
  }
  const problem = problemWith((await resolved(at.args)) ?? {}, rest)
  return problem && `${problem} See: ${name} --help`
}

function problemWith(args: ArgsDef, words: string[]): string | undefined {
  const options = Object.keys(args).filter((name) => args[name]?.type !== 'positional')
  const end = words.indexOf('--')
  const asked = words.slice(0, end < 0 ? words.length : end).filter((word) => /^-./.test(word))
  const unknown = asked.find((word) => !options.includes(word.replace(/^--/, '').replace(/=.*/s, '')))
  if (unknown && /^-\d/.test(unknown)) return `Numbers can't be negative: ${unknown}.`
  if (unknown) return `There is no option ${unknown}.`
  try {
    const surplus = parseArgs(words, args)._.slice(Object.keys(args).length - options.length)
    return surplus.length > 0 ? `Unexpected argument ${JSON.stringify(surplus[0])}.` : undefined
  } catch (error) {
    return stripVTControlCharacters((error as Error).message).replace(/\.*$/, '.')
  }
}

/** Resolves a part of a citty command, which may be a value, a promise or a function. */
async function resolved<T>(part: T | Promise<T> | (() => T | Promise<T>) | undefined): Promise<T | undefined> {
  return typeof part === 'function' ? (part as () => T | Promise<T>)() : part
}
