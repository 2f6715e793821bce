import { expect, test } from 'vitest'
import { composeEmail, oneLine, type Section } from './compose.ts'
import { findMovers } from './sections/movers.ts'

const hostile =
  'x\r\nBcc: victim@example.com\r\n\r\n<img src="https://evil.example/a.png" onerror=alert(1)>\u202egpj.exe'
const section = (title: string): Section => ({
  title,
  sentences: [`The link ${title} fell.`],
  tables: [{ title, head: ['Link', 'clicks'], rows: [[title, '1']] }],
  action: { label: 'Open', url: 'https://app.example/links/1?a=1&b=2' },
})
const letter = (...sections: Section[]) => ({
  workspaceName: hostile,
  sections,
  unsubscribeUrl: 'https://app.example/notifications/unsubscribe?token=abc.def',
  settingsUrl: 'https://app.example/app/acme/settings/notifications',
})

test('names of other people add neither headers nor markup nor lines, and are shortened', () => {
  const { subject, text, html, headers } = composeEmail(letter(section(hostile.repeat(20))))
  expect(subject).not.toMatch(/[\r\n\u202e]/)
  expect([...subject].length).toBe(150)
  expect(html).not.toContain('<img')
  expect(html).not.toContain('\u202e')
  expect(html.match(/<[a-z][^>]*>/g)?.join('')).not.toMatch(/src=|background|onerror/)
  expect(text.split('\n').some((line) => line.startsWith('Bcc:'))).toBe(false)
  expect(text.length).toBeLessThan(2_500)
  expect(JSON.stringify(headers)).not.toContain('victim')
})

test('an e-mail has the headers by which mail programs unsubscribe with one click', () => {
  expect(composeEmail(letter(section('a'))).headers).toMatchObject({
    'List-Unsubscribe': '<https://app.example/notifications/unsubscribe?token=abc.def>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  })
})

test('one notification gives its title as subject, several their number', () => {
  expect(composeEmail(letter(section('A domain broke'))).subject).toBe('A domain broke')
  const { subject, text, html } = composeEmail({ ...letter(section('One'), section('Two')), workspaceName: 'Acme' })
  expect(subject).toBe('2 notifications of Acme')
  for (const part of [text, html]) for (const title of ['One', 'Two']) expect(part).toContain(title)
})

test('half of a surrogate pair and characters of several code units survive shortening', () => {
  expect(oneLine('👩‍🚀👩‍🚀👩‍🚀', 3)).toBe('👩🚀…')
  expect(oneLine('a\ud83d', 5)).toBe('a\ufffd')
})

test('links move between two weeks by more than chance', () => {
  const links = [
    { name: 'up', clicks: 100, before: 20 },
    { name: 'down', clicks: 5, before: 60 },
    { name: 'same', clicks: 105, before: 95 },
    { name: 'few', clicks: 9, before: 0 },
    { name: 'new', clicks: 30, before: 0 },
  ]
  const { rose, fell } = findMovers(links)
  expect(rose.map(({ name }) => name)).toEqual(['up', 'new'])
  expect(fell.map(({ name }) => name)).toEqual(['down'])
})
