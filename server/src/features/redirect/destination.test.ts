import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTarget, withClickId, withVisitorQuery } from './destination.ts'

const web = (url: string) => ({ isApp: false, url })
const app = (url: string) => ({ isApp: true, url })
const anyWebUrl = fc.webUrl({ withQueryParameters: true, withFragments: true }).map((text) => new URL(text).href)
const anyPair = fc
  .tuple(fc.constantFrom('a', 'b', 'utm_source', 'trib_id', 'TRIB_id', 'pw', 'qr', 'redir_url'), fc.string())
  .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)

describe('a stored destination', () => {
  test.each<[string, ReturnType<typeof parseTarget>]>([
    ['https://example.com/a?b=c#d', web('https://example.com/a?b=c#d')],
    ['http://example.com', web('http://example.com')],
    ['HTTPS://EXAMPLE.com/A', web('https://example.com/A')],
    ['https://exämple.com/schön?ä#ö', web('https://xn--exmple-cua.com/sch%C3%B6n?%C3%A4#%C3%B6')],
    ['https://example.com/a b', web('https://example.com/a%20b')],
    ['https://example.com/\r\nSet-Cookie: a=b', web('https://example.com/Set-Cookie:%20a=b')],
    ['mailto:a@b.example', app('mailto:a@b.example')],
    ['myapp://open', app('myapp://open')],
    ['javascript:alert(1)', null],
    ['\u0001javascript:alert(1)', null],
    ['data:text/html,<script>', null],
    ['//example.com/', null],
    ['example.com', null],
    ['https://', null],
    ['', null],
  ])('%j', (stored, target) => {
    expect(parseTarget(stored)).toEqual(target)
  })

  test('always fits a header', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string({ unit: 'binary' }).map((text) => `https://a.b/${text}`),
        ),
        (stored) => {
          const target = parseTarget(stored)
          if (target) expect(target.url).toMatch(/^[!-~]+( [!-~]+)*$/)
        },
      ),
    )
  })
})

describe("the visitor's parameters", () => {
  test.each([
    ['https://e.com/', 'a=b', 'https://e.com/?a=b'],
    ['https://e.com/?', 'a=b', 'https://e.com/?a=b'],
    ['https://e.com/?x=y', 'a=b', 'https://e.com/?x=y&a=b'],
    ['https://e.com/?x=y#part', 'a=b', 'https://e.com/?x=y&a=b#part'],
    ['https://e.com/#part?x=y', 'a=b', 'https://e.com/?a=b#part?x=y'],
    ['https://e.com/?a=old&x=y', 'a=new', 'https://e.com/?x=y&a=new'],
    ['https://e.com/?a=1&a=2&x', 'a=new', 'https://e.com/?x&a=new'],
    ['https://e.com/?%61=old', 'a=new', 'https://e.com/?a=new'],
    ['https://e.com/?a=old', '%61=new', 'https://e.com/?%61=new'],
    ['https://e.com/?a+b=old', 'a%20b=new', 'https://e.com/?a%20b=new'],
    ['https://e.com/?A=old', 'a=new', 'https://e.com/?A=old&a=new'],
    ['https://e.com/?x=y', 'a=1&a=2', 'https://e.com/?x=y&a=1&a=2'],
    ['https://e.com/?x', 'flag', 'https://e.com/?x&flag'],
    ['https://e.com/?flag=1', 'flag', 'https://e.com/?flag'],
    ['https://e.com/?q=a%20b+c&sig=~x%2f&&', 'a', 'https://e.com/?q=a%20b+c&sig=~x%2f&&&a'],
    ['https://e.com/', 'a=b?c=d', 'https://e.com/?a=b?c=d'],
    ['https://e.com/', 'a=%zz', 'https://e.com/?a=%zz'],
    ['https://e.com/', '&&=x&a', 'https://e.com/?a'],
    ['https://e.com/', 'a=ü"<\u0000#x', 'https://e.com/?a=%FC"<%00%23x'],
    ['https://e.com/', 'a=漢', 'https://e.com/?a=%E6%BC%A2'],
    ['https://e.com/', 'qr=1', 'https://e.com/'],
    ['https://e.com/', 'qr=1&a=b', 'https://e.com/?a=b'],
    ['https://e.com/?qr=7', 'qr=1', 'https://e.com/?qr=7'],
    ['https://e.com/', 'qr=2', 'https://e.com/?qr=2'],
    ['https://e.com/', 'pw=secret&password=secret&PassWord=x&p%77=x', 'https://e.com/'],
    ['https://e.com/', 'redir_url=https://evil.example', 'https://e.com/?redir_url=https://evil.example'],
    ['https://e.com/', 'trib_id=forged', 'https://e.com/'],
    ['https://e.com/', 'TRIB_ID=forged&trib%5Fid=forged&%74rib_id', 'https://e.com/'],
    ['https://e.com/?trib_id=own&x=y', '', 'https://e.com/?x=y'],
    ['https://e.com/?trib_id=own#part', 'trib_id=forged', 'https://e.com/#part'],
    ['https://e.com/?xtrib_id=1', '', 'https://e.com/?xtrib_id=1'],
  ])('%s with %j becomes %s', (url, query, expected) => {
    expect(withVisitorQuery(web(url), query, 'trib_id')).toBe(expected)
  })

  test.each(['mailto:a@b.example?subject=x', 'whatsapp://send?phone=49', 'myapp://open?a=b'])(
    '%s gets no parameters',
    (url) => {
      expect(withVisitorQuery(app(url), 'cc=evil@b.example&phone=1&a=c', 'trib_id')).toBe(url)
    },
  )

  test('change only the query of the destination, and never set a click id', () => {
    fc.assert(
      fc.property(anyWebUrl, fc.array(anyPair, { maxLength: 5 }), (url, pairs) => {
        const made = new URL(withVisitorQuery(web(url), pairs.join('&'), 'trib_id'))
        const owned = new URL(url)
        for (const part of ['protocol', 'host', 'pathname', 'hash'] as const) expect(made[part]).toBe(owned[part])
        const names = [...made.searchParams.keys()].map((name) => name.toLowerCase())
        for (const name of ['trib_id', 'pw']) expect(names).not.toContain(name)
        for (const name of ['a', 'b', 'utm_source', 'redir_url']) {
          const given = new URLSearchParams(pairs.join('&')).getAll(name)
          expect(made.searchParams.getAll(name)).toEqual(given.length > 0 ? given : owned.searchParams.getAll(name))
        }
      }),
    )
  })

  test('are passed on up to the 500th, whatever their bytes', () => {
    const query = Array.from({ length: 600 }, (_, number) => `\xff${number}=%FF`).join('&')
    const passedOn = new URL(withVisitorQuery(web('https://example.com/'), query, 'trib_id')).search.slice(1).split('&')
    expect(passedOn).toHaveLength(500)
    expect([passedOn[0], passedOn.at(-1)]).toEqual(['%FF0=%FF', '%FF499=%FF'])
  })

  test('leave a destination unchanged when the visitor sends none', () => {
    fc.assert(
      fc.property(anyWebUrl, (url) => {
        expect(withVisitorQuery(web(url), '', 'trib_id')).toBe(url)
      }),
    )
  })
})

describe('the click id', () => {
  test.each([
    ['https://example.com/', 'https://example.com/?trib_id=AbC-_1'],
    ['https://example.com/?', 'https://example.com/?trib_id=AbC-_1'],
    ['https://example.com', 'https://example.com?trib_id=AbC-_1'],
    ['https://example.com/a?b=c', 'https://example.com/a?b=c&trib_id=AbC-_1'],
    ['https://example.com/a#part', 'https://example.com/a?trib_id=AbC-_1#part'],
    ['https://example.com/a?b#part?no', 'https://example.com/a?b&trib_id=AbC-_1#part?no'],
    ['https://example.com/?q=a%20b+c&sig=~x%2f', 'https://example.com/?q=a%20b+c&sig=~x%2f&trib_id=AbC-_1'],
    ['myapp://open/7', 'myapp://open/7?trib_id=AbC-_1'],
    ['intent://a#Intent;scheme=b;end', 'intent://a?trib_id=AbC-_1#Intent;scheme=b;end'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['tel:+4930', 'tel:+4930'],
  ])('%s becomes %s', (url, location) => {
    expect(withClickId(url, 'trib_id', 'AbC-_1')).toBe(location)
  })

  test('leaves the rest of any destination as its owner wrote it', () => {
    fc.assert(
      fc.property(anyWebUrl, (url) => {
        const location = withClickId(url, 'trib_id', 'AbC-_1')
        expect(new URL(location).searchParams.getAll('trib_id')).toEqual(['AbC-_1'])
        const rest = location.replace(/[?&]trib_id=AbC-_1/, '')
        expect([url, url.replace(/\?(?=#|$)/, '')]).toContain(rest)
      }),
    )
  })
})
