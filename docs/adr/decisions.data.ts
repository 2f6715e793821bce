import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Decision = { number: string; title: string; link: string }

export declare const data: Decision[]

export default {
  watch: ['./[0-9]*.md'],
  load: (): Decision[] =>
    globSync('[0-9]*.md', { cwd: import.meta.dirname })
      .sort()
      .map((name) => {
        const [, number = '', title = name] =
          readFileSync(join(import.meta.dirname, name), 'utf8').match(/^# (\d+) (.+)$/m) ?? []
        return { number, title, link: `/docs/adr/${name.replace(/\.md$/, '')}` }
      }),
}
