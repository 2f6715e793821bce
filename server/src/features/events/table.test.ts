import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine } from './table.ts'

test.each([
  [['a', 'b'], 'a,b\r\n'],
  [[null, undefined, ''], ',,\r\n'],
  [[1, -2.5, true, false], '1,-2.5,true,false\r\n'],
  [['a,b', 'say "x"', 'a\nb', 'a\rb'], '"a,b","say ""x""","a\nb","a\rb"\r\n'],
  [[{ a: [1, 'x'] }], '"{""a"":[1,""x""]}"\r\n'],
  [['=1+1', '+1', '-1', '@x'], "'=1+1,'+1,'-1,'@x\r\n"],
  [['\tx', '\rx', '\nx', '＝1'], `'\tx,"'\rx","'\nx",'＝1\r\n`],
  [['=HYPERLINK("x","y")'], `"'=HYPERLINK(""x"",""y"")"\r\n`],
  [['a=1', ' =1', "'=1"], "a=1, =1,'=1\r\n"],
  [['x;=1+1;y', 'a\t@b'], "x;'=1+1;y,a\t'@b\r\n"],
])('the CSV line of %j', (cells, line) => {
  expect(csvLine(cells as string[])).toBe(line)
})

test('every CSV cell is read back, and no text cell begins like a formula', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({
          unit: fc.oneof(fc.constantFrom(...';\t=+-@'), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      (cells) => {
        const read = readCsv(csvLine(cells))
        expect(read).toHaveLength(cells.length)
        for (const [index, text] of read.entries()) {
          for (const part of text.split(/[;\t]/)) expect(part).not.toMatch(/^[=+\-@\r\n＝＋－＠]/u)
          expect(text.replaceAll("'", '')).toBe(cells[index]?.replaceAll("'", ''))
        }
      },
    ),
  )
})

function readCsv(line: string): string[] {
  const cells: string[] = []
  for (const [, quoted, plain] of `,${line.slice(0, -2)}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^",\r\n]*))/gu))
    cells.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
  return cells
}
