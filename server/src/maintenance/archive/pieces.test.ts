import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitChunks } from './chunks.ts'
import { checkManifest, type Here, type Manifest, signManifest } from './manifest.ts'
import { inOrder } from './order.ts'
import { pack, unpack } from './pack.ts'

test('chunks have whole lines and together the whole stream, wherever its buffers are split', async () => {
  const lines = fc.array(fc.string().map((text) => `${text.replaceAll('\n', '')}\n`))
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 50 }),
      async (lines, cut, size) => {
        const whole = Buffer.from(lines.join(''))
        const pieces = Array.from({ length: Math.ceil(whole.length / cut) }, (_, at) =>
          whole.subarray(at * cut, (at + 1) * cut),
        )
        const chunks = await Array.fromAsync(splitChunks(Readable.from(pieces), size))
        expect(Buffer.concat(chunks.map(({ bytes }) => bytes))).toEqual(whole)
        expect(chunks.reduce((sum, { rows }) => sum + rows, 0)).toBe(lines.length)
        for (const { bytes } of chunks) expect(bytes.at(-1)).toBe(10)
      },
    ),
  )
})

describe('a backup file', () => {
  const bytes = Buffer.from('row\n'.repeat(1_000))
  const key = Buffer.alloc(32, 7)

  test('a backup file is read back unchanged', async () => {
    expect(await unpack('a', await pack('a', bytes))).toEqual(bytes)
    const sealed = await pack('a', bytes, key)
    expect(sealed.length).toBeLessThan(200)
    expect(await unpack('a', sealed, key)).toEqual(bytes)
  })

  test('an encrypted backup file can be read only with its key, under its name and unchanged', async () => {
    const sealed = await pack('a', bytes, key)
    await expect(unpack('a', sealed, Buffer.alloc(32, 8))).rejects.toThrow()
    await expect(unpack('b', sealed, key)).rejects.toThrow()
    sealed.writeUInt8((sealed.at(-1) as number) ^ 1, sealed.length - 1)
    await expect(unpack('a', sealed, key)).rejects.toThrow()
  })
})

test('tables are sorted after the tables that they reference', () => {
  const table = (name: string, ...references: string[]) => ({ name, references })
  const tables = [table('links', 'folders', 'workspaces'), table('folders', 'workspaces'), table('workspaces')]
  expect(inOrder(tables).map(({ name }) => name)).toEqual(['workspaces', 'folders', 'links'])
  expect(() => inOrder([table('a', 'b'), table('b', 'a')])).toThrow('in a cycle: a, b')
})

describe('checking the manifest of a backup', () => {
  type Named = Here['known'][number]
  const [one, two] = ['0001', '0002'].map((name) => ({ engine: 'postgres', name, checksum: name })) as [Named, Named]
  const keys = { ENCRYPTION_KEYS: { 1: 'a' } }
  const file = { name: '', rows: 0, bytes: 0, sha256: '' }
  const backup: Manifest = {
    format: 1,
    madeAt: '2026-11-15T00:00:00Z',
    versions: { postgres: '18', clickhouse: '26' },
    migrations: [one],
    keys,
    encrypted: false,
    sequences: [],
    configuration: file,
    tables: [],
  }
  const key = Buffer.alloc(32, 1)
  const signed = { encrypted: true, signature: signManifest({ ...backup, encrypted: true }, key) }
  const here: Here = { known: [one, two], applied: [], keys, key: undefined }
  test.each<[string, Partial<Manifest>, Partial<Here>, string | undefined]>([
    ['of the same version', {}, { known: here.known.slice(0, 1), applied: here.known.slice(0, 1) }, undefined],
    ['of an older version, into an empty database', {}, {}, undefined],
    ['of an older version, into a newer database', {}, { applied: here.known }, 'which already has postgres/0002'],
    [
      'of a newer version',
      { migrations: here.known },
      { known: here.known.slice(0, 1) },
      'has no migrations postgres/0002',
    ],
    ['of a changed version', {}, { known: [{ ...one, checksum: 'x' }] }, 'has no migrations postgres/0001'],
    [
      'with a key that is missing',
      { keys: { ENCRYPTION_KEYS: { 1: 'a', 2: 'b' } } },
      {},
      'not configured: ENCRYPTION_KEYS 2',
    ],
    ['encrypted, without the key', { encrypted: true }, {}, 'Set BACKUP_KEY'],
    ['not encrypted, with a key', {}, { key }, 'unset BACKUP_KEY'],
    ['encrypted, not signed', { encrypted: true }, { key }, 'is not signed'],
    [
      'encrypted, signed by another key',
      { ...signed, encrypted: true },
      { key: Buffer.alloc(32, 2) },
      'signature of the backup manifest is wrong',
    ],
    [
      'encrypted, signed, changed after that',
      { ...signed, madeAt: '2026-11-16T00:00:00Z' },
      { key },
      'signature of the backup manifest is wrong',
    ],
    ['encrypted, signed, made to look unencrypted', { ...signed, encrypted: false }, { key }, 'unset BACKUP_KEY'],
    ['encrypted and signed', signed, { key }, undefined],
  ])('a backup %s', (_, made, found, refusal) => {
    const answer = checkManifest({ ...backup, ...made }, { ...here, ...found })
    if (refusal) expect(answer).toContain(refusal)
    else expect(answer).toBeUndefined()
  })

  test('an unsigned manifest of an encrypted backup can be accepted', () => {
    expect(checkManifest({ ...backup, encrypted: true }, { ...here, key }, { unsigned: true })).toBeUndefined()
  })

  test('a manifest with keys that are not configured can be accepted', () => {
    expect(checkManifest(backup, { ...here, keys: {} }, { otherKeys: true })).toBeUndefined()
  })
})
