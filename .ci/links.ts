import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns the links of a Markdown document to missing files or headings of the project. */
export function deadLinks(root: string, file: string, markdown: string): string[] {
  const text = withoutCode(markdown).replace(/`[^`]*`/g, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)/gm)].map(
    ([, inside, below]) => inside ?? below,
  )
  return targets.filter((target): target is string => target !== undefined && isDead(root, file, markdown, target))
}

function isDead(root: string, file: string, markdown: string, target: string): boolean {
  // The web server serves paths that begin with a slash; the test of the built docs site checks those.
  if (/^([a-z]+:|\/)/.test(target)) return false
  const [path = '', anchor] = target.split('#')
  const found = path === '' ? join(root, file) : join(root, dirname(file), path)
  if (path !== '' && !existsSync(found)) return true
  if (!anchor) return false
  const text = path === '' ? markdown : found.endsWith('.md') ? readFileSync(found, 'utf8') : ''
  return !findAnchors(text).includes(anchor)
}

export function findAnchors(markdown: string): string[] {
  const seen = new Map<string, number>()
  return [...withoutCode(markdown).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) => {
    const anchor = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^ *```[\s\S]*?^ *```/gm, '')
}
