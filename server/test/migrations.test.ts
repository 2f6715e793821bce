import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const folder = new URL('../migrations/', import.meta.url)
const files = ['postgres', 'clickhouse'].flatMap((engine) =>
  readdirSync(new URL(engine, folder)).map((name) => `${engine}/${name}`),
)

/** Statements that would break a process of the previous version, so that a comment must give the reason. */
const breaking = [
  /\bDROP\s+(?:TABLE|COLUMN|VIEW|TYPE|SEQUENCE)\b/i,
  /\bRENAME\b/i,
  /\bALTER\s+COLUMN\s+\w+\s+(?:SET\s+DATA\s+)?TYPE\b/i,
  /\bALTER\s+COLUMN\s+\w+\s+(?:SET\s+NOT\s+NULL|DROP\s+DEFAULT)\b/i,
  /\bADD\s+COLUMN\s+(?:IF\s+NOT\s+EXISTS\s+)?\w+(?![^,;]*\b(?:DEFAULT|GENERATED)\b)[^,;]*\bNOT\s+NULL\b/i,
  /\bMODIFY\s+COLUMN\b/i,
]
const reason = /^-- Contract: .{20}/m

/** Returns a statement that needs a comment with the reason and has none. */
function unexplained(text: string): string | undefined {
  const code = text.replaceAll(/--.*$/gm, '')
  const found = breaking.map((pattern) => pattern.exec(code)?.[0]).find(Boolean)
  return found && !reason.test(text) ? found : undefined
}

test.each(files)('%s only adds, or has a comment since when the removed objects are unused', (file) => {
  expect(unexplained(readFileSync(new URL(file, folder), 'utf8'))).toBeUndefined()
})

describe('the rule', () => {
  test.each([
    'ALTER TABLE links DROP COLUMN proxy;',
    'ALTER TABLE links RENAME COLUMN proxy TO preview;',
    'ALTER TABLE links ALTER COLUMN key TYPE varchar;',
    'ALTER TABLE links ALTER COLUMN title SET NOT NULL;',
    'ALTER TABLE links ADD COLUMN color text NOT NULL;',
    'DROP TABLE links;',
  ])('refuses %s', (statement) => {
    expect(unexplained(statement)).toBeDefined()
    expect(unexplained(`-- Contract: no version since 1.4 reads or writes it.\n${statement}`)).toBeUndefined()
  })

  test.each([
    'CREATE TABLE links (id text NOT NULL);',
    "ALTER TABLE links ADD COLUMN color text NOT NULL DEFAULT '';",
    'ALTER TABLE links ADD COLUMN color text, DROP CONSTRAINT links_key;',
    '-- DROP TABLE links\nDROP INDEX links_newest;',
  ])('allows %s', (statement) => {
    expect(unexplained(statement)).toBeUndefined()
  })
})
