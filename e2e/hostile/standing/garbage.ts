import type { Random } from '../../../server/test/random.ts'

/** Bytes that are not, or just barely, HTTP/1.1. */
export function makeGarbage(random: Random, host: string): Buffer {
  const head = `Host: ${host}\r\n`
  const random64 = Buffer.from(Array.from({ length: 64 }, () => random.below(256)))
  const text = random.pick([
    `GET / HTTP/1.1\r\n${head}Content-Length: -1\r\n\r\n`,
    `POST /links HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
    `POST /links HTTP/1.1\r\n${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef`,
    `POST /links HTTP/1.1\r\n${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `POST /links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nabc`,
    `POST /links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n3;ext="${'x'.repeat(20_000)}"\r\nabc\r\n0\r\n\r\n`,
    `POST /links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Trailer: a\r\nContent-Length: 9\r\n\r\n`,
    `POST /track/click HTTP/1.1\r\n${head}Content-Length: 99999999999999999999\r\n\r\n{}`,
    `POST /track/click HTTP/1.1\r\n${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
    `POST /track/click HTTP/1.1\r\n${head}Expect: something\r\nContent-Length: 2\r\n\r\n{}`,
    `CONNECT example.com:443 HTTP/1.1\r\n${head}\r\n`,
    `GET / HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    `GET / HTTP/1.1\r\n${head}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET /\r\n',
    `GET / HTTP/1.0\r\n\r\n`,
    `GET / HTTP/9.9\r\n${head}\r\n`,
    `GET http://other.example/plain HTTP/1.1\r\n${head}\r\n`,
    `GET * HTTP/1.1\r\n${head}\r\n`,
    `OPTIONS * HTTP/1.1\r\n${head}\r\n`,
    `GET //evil.example/plain HTTP/1.1\r\n${head}\r\n`,
    `GET /\\evil.example HTTP/1.1\r\n${head}\r\n`,
    `GET / HTTP/1.1\r\n\r\n`,
    `GET / HTTP/1.1\r\n${head}${head}\r\n`,
    `GET / HTTP/1.1\n${head.replace('\r', '')}\n`,
    `GET / HTTP/1.1\r\n${head}A: b\0c\r\n\r\n`,
    `GET / HTTP/1.1\r\n${head} folded: a\r\n b\r\n\r\n`,
    `GET / HTTP/1.1\r\n${head}no colon\r\n\r\n`,
    `GET / HTTP/1.1\r\n${head}${Array.from({ length: random.pick([90, 1_999, 2_500]) }, (_, index) => `X-${index}: a\r\n`).join('')}\r\n`,
    `GET / HTTP/1.1\r\n${head}X: ${'x'.repeat(random.pick([15_000, 17_000, 130_000, 140_000]))}\r\n\r\n`,
    `GET /${'x'.repeat(random.pick([15_000, 17_000, 130_000, 140_000]))} HTTP/1.1\r\n${head}\r\n`,
    `${'G'.repeat(10_000)} / HTTP/1.1\r\n${head}\r\n`,
    '\r\n\r\n\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    random64.toString('latin1'),
  ])
  const bytes = Buffer.from(text, 'latin1')
  if (!random.chance(0.2)) return bytes
  bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}
