const heading = '## Unreleased'

/** Returns the lines between `## Unreleased` and the previous version, without blank lines. */
export function unreleasedLines(changelog: string): string[] {
  const [, after = ''] = changelog.split(/^## Unreleased$/m)
  const [section = ''] = after.split(/^## /m)
  return section.split('\n').filter((line) => line.trim() !== '')
}

/** Moves the unreleased lines below a heading with version and date, and leaves an empty `## Unreleased` above. */
export function cutVersion(changelog: string, version: string, date: string): string {
  return changelog.replace(/^## Unreleased$/m, `${heading}\n\n## ${version} - ${date}`)
}
