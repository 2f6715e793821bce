import { expect, test } from 'vitest'
import { formatCsv, parseCsv } from './csv.ts'

test.each([
  [
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    '\uFEFFa;b\r\n"x;y";"say ""hi"""\r\n',
    [
      ['a', 'b'],
      ['x;y', 'say "hi"'],
    ],
  ],
  [
    'a\tb\r1\t2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a,b\n"two\nlines",2\n\n,\n',
    [
      ['a', 'b'],
      ['two\nlines', '2'],
    ],
  ],
  ["a\n'=1+1\n", [['a'], ['=1+1']]],
  ['', []],
])('%j is read as %j', (text, rows) => {
  expect(parseCsv(text)).toEqual(rows)
})

test('what is written can be read again, and runs as no formula', () => {
  const rows = [
    ['url', 'title'],
    ['https://a.com/?a=1,2', '=HYPERLINK("x")'],
    ['-1', 'two\nlines'],
    ['https://a.test/;=1+1;', 'a\t@x'],
  ]
  const text = formatCsv(rows)
  expect(text).not.toMatch(/(^|[,;\t"])[=@-]/m)
  expect(parseCsv(text)).toEqual(rows)
})
