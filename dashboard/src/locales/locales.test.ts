import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const catalogs = globSync('*/de.po', { cwd: import.meta.dirname })

/** Messages of a catalog: the English text, which identifies it, and its translation. */
function readMessages(text: string): [english: string, translation: string][] {
  const entry = /^msgid ((?:"(?:[^"\\]|\\.)*"\n?)+)msgstr ((?:"(?:[^"\\]|\\.)*"\n?)+)/gm
  const join = (lines = '') => [...lines.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, part]) => part).join('')
  return [...text.matchAll(entry)]
    .map(([, id, translation]): [string, string] => [join(id), join(translation)])
    .filter(([id]) => id !== '')
}

const slots = (message: string) => [...message.matchAll(/\{(\w+)(?=[,}])|<\/?\d+\/?>/g)].map(([slot]) => slot).sort()

test.each(catalogs)('%s has a German sentence for every English one, with the same parts', (file) => {
  const messages = readMessages(readFileSync(join(import.meta.dirname, file), 'utf8'))
  expect(messages.filter(([, translation]) => translation === '').map(([english]) => english)).toEqual([])
  for (const [english, german] of messages) expect(slots(german), english).toEqual(slots(english))
})

test('the same catalogs exist in both languages', () => {
  const english = globSync('*/en.po', { cwd: import.meta.dirname }).map((file) => file.replace('en.po', 'de.po'))
  expect(english.sort()).toEqual(catalogs.sort())
})
