const heading = '## Unreleased'

/** The lines between `## Unreleased` and the version before, without blank ones. */
export function unreleasedLines(changelog: string): string[] {
  const [, after = ''] = changelog.split(/^## Unreleased$/m)
  const [section = ''] = after.split(/^## /m)
  return section.split('\n').filter((line) => line.trim() !== '')
}

/** Gives the unreleased lines a version and a date, and leaves an empty `## Unreleased` above them. */
export function cutVersion(changelog: string, version: string, date: string): string {
  return changelog.replace(/^## Unreleased$/m, `${heading}\n\n## ${version} - ${date}`)
}
