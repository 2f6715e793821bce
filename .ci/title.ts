import { spawnSync } from 'node:child_process'

const types = ['feat', 'fix', 'perf', 'refactor', 'docs', 'test', 'build', 'ci', 'chore', 'revert']
const maxLength = 100

/** Returns what is wrong with a commit or pull request title, or undefined. */
export function titleFault(title: string): string | undefined {
  const [, type, noun, what] = title.match(/^(\w+)(?:\(([^()]*)\))?!?: (.*)$/) ?? []
  if (!type || what === undefined) return 'is not of the form "type(noun): what changed"'
  if (!types.includes(type)) return `has the type ${type}, which is not one of ${types.join(', ')}`
  if (!noun || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(noun))
    return `has no lower-case noun in parentheses: "${type}(links): …"`
  if (!/^\S.*[^\s.]$/.test(what)) return 'must end with what changed, in words, without a full stop'
  return title.length > maxLength ? `has ${title.length} characters, more than ${maxLength}` : undefined
}

/** Returns the title of the last commit that is not a merge; undefined in a shallow clone of a merge. */
function lastTitle(): string | undefined {
  const { stdout } = spawnSync('git', ['log', '-1', '--no-merges', '--format=%s'], { encoding: 'utf8' })
  return stdout?.trim() || undefined
}

if (import.meta.main) {
  const title = process.argv[2] ?? lastTitle()
  const fault = title === undefined ? undefined : titleFault(title)
  if (fault) console.error(`"${title}" ${fault}`)
  process.exitCode = fault ? 1 : 0
}
