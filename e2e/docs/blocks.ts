import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Block = {
  page: string
  line: number
  language: string
  text: string
  /** The block after a shell command, if it is JSON or has no language: what the command prints. */
  answer?: string
}
export type Page = {
  name: string
  /** Returns the code blocks of a language, optionally only those that contain a text, and marks them as tested. */
  take(language: string, containing?: string): Block[]
  /** Returns the locations of code blocks that no test has taken. */
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

/** Finds fenced code blocks, also within lists. A block without a language is command output or a diagram. */
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
      blocks.push(open.block)
    }
  }
  for (const [index, block] of blocks.entries()) {
    const next = blocks[index + 1]
    if (block.language === 'sh' && (next?.language === 'json' || next?.language === '')) block.answer = next.text
  }
  return blocks.filter(({ language }) => language !== '')
}
