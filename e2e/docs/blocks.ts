import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Block = { page: string; line: number; language: string; text: string }
export type Page = {
  name: string
  /** Takes the blocks of a language, optionally those that contain a text; the caller runs them. */
  take(language: string, containing?: string): Block[]
  /** Locations of the blocks that were not taken. */
  left(): string[]
}

const docs = join(import.meta.dirname, '../../docs')

export function readPage(name: string, file = join(docs, `${name}.md`)): Page {
  const blocks = new Set(findBlocks(name, readFileSync(file, 'utf8')))
  return {
    name,
    take(language, containing = '') {
      const taken = [...blocks].filter((block) => block.language === language && block.text.includes(containing))
      for (const block of taken) blocks.delete(block)
      return taken
    },
    left: () => [...blocks].map(({ page, line, language }) => `${page}.md:${line} ${language}`),
  }
}

/** Fenced blocks, also those within a list. A block without a language is command output or a diagram. */
function findBlocks(page: string, markdown: string): Block[] {
  const blocks: Block[] = []
  let open: { indent: string; block: Block } | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = line.match(/^( *)```(\w*)/)
    if (open && fence) open = undefined
    else if (open) open.block.text += `${line.startsWith(open.indent) ? line.slice(open.indent.length) : line}\n`
    else if (fence) {
      const [, indent = '', language = ''] = fence
      open = { indent, block: { page, line: index + 1, language, text: '' } }
      if (language) blocks.push(open.block)
    }
  }
  return blocks
}
