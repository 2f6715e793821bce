import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { translate, translateMessage } from './german.ts'
import { day, html, say, sentence } from './html.ts'
import { renderPage } from './layout.ts'
import { setupPage } from './sign-in.ts'

/** Texts of the pages that are the same in both languages. */
const same = ['Code', 'Passkey', 'Passkeys']

test.each(globSync('*.ts', { cwd: import.meta.dirname }).filter((file) => !/test|german|html/.test(file)))(
  'every text of %s has a German one, with the same values',
  (file) => {
    const source = readFileSync(join(import.meta.dirname, file), 'utf8')
    const texts = [...source.matchAll(/say\((?:'([^']+)'|"([^"]+)")/g)].map(([, one, other]) => one ?? other ?? '')
    const named = [...source.matchAll(/(?:label|hint|title): '([^']+)'/g)].map(([, text = '']) => text)
    const buttons = [...source.matchAll(/form\(\s*'[^']+',\s*'([^']+)'/g)].map(([, text = '']) => text)
    const slots = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([slot]) => slot).sort()
    for (const text of [...texts, ...named, ...buttons].filter((text) => !same.includes(text))) {
      expect(translate(text, 'de'), text).not.toBe(text)
      expect(slots(translate(text, 'de')), text).toEqual(slots(text))
    }
  },
)

test('a page is in the language of its reader', () => {
  const page = setupPage({ token: 'secret', problem: 'The password has 3 characters. Choose one with 10 to 200.' })
  expect(renderPage(page, 'n', 'en')).toMatch(/<html lang="en">[\s\S]*<h1>Set up Tributary<\/h1>/)
  const german = renderPage(page, 'n', 'de')
  expect(german).toMatch(/<html lang="de">[\s\S]*<title>Tributary einrichten · Tributary<\/title>/)
  expect(german).toContain('Das Passwort hat 3 Zeichen. Wähle eines mit 10 bis 200.')
  expect(german).toContain('Name des ersten Workspaces')
})

test('values are escaped, also those that look like a slot', () => {
  const hostile = '<b>{email}</b>'
  const written = html`${say('This link signs you in as {email}.', { email: hostile })}${sentence(hostile)}`.write('de')
  expect(written).not.toContain('<b>')
  expect(written).toContain('{email}')
})

test('dates are written as people read them', () => {
  const at = new Date('2026-11-17T10:32:00Z')
  expect([day(at).write('en'), day(at).write('de')]).toEqual(['17 Nov 2026', '17.11.2026'])
  const expired = 'This invite expired on 17 November 2026 at 10:32 UTC. Ask an owner of the workspace to renew it.'
  expect(translateMessage(expired, 'de')).toContain('am 17. November 2026 um 10:32 UTC abgelaufen')
})

test('a sentence without a German one stays as it is', () => {
  expect(translateMessage('Something new.', 'de')).toBe('Something new.')
})
