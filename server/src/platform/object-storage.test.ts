import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startS3Server } from '../../test/storage/s3-server.ts'
import { openObjectStorage } from './object-storage.ts'

const keys = { accessKey: 'AKIATEST', secretKey: 'a/secret+key', region: 'eu-central-1' }
const none = {
  BACKUP_S3_ENDPOINT: 'http://127.0.0.1:1',
  BACKUP_S3_REGION: keys.region,
  BACKUP_S3_ACCESS_KEY: undefined,
  BACKUP_S3_SECRET_KEY: undefined,
}
const bytes = Buffer.from('some bytes \0 ÿ')

test('a folder stores a file under its name atomically', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-storage-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const storage = openObjectStorage(none, join(folder, 'new'))
  expect(await storage.get('a/b.txt')).toBeUndefined()
  await storage.put('a/b.txt', bytes)
  expect(await storage.get('a/b.txt')).toEqual(bytes)
  expect(await readdir(join(folder, 'new/a'))).toEqual(['b.txt'])
})

test('a full disk or a path that is not a folder is reported, and no partial file is left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-storage-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const storage = openObjectStorage(none, folder)
  await symlink('/dev/full', join(folder, 'a.part'))
  const full = /^Can't write .*\/a: ENOSPC: no space left on device, write\. Check its space and permissions/
  await expect(storage.put('a', bytes)).rejects.toThrow(full)
  expect(await readdir(folder)).toEqual([])
  await writeFile(join(folder, 'file'), '')
  await expect(storage.put('file/a', bytes)).rejects.toThrow(/^Can't write .*\/file\/a: /)
  await expect(storage.get('file/a')).rejects.toThrow(/^Can't read .*\/file\/a: ENOTDIR.* Use a folder/)
})

test('a bucket stores a file below its folder, and requests retry while it is overloaded', async () => {
  const { server, storage } = await openBucket('s3://backups/2026/11/')
  server.refusals = 2
  await storage.put('a/b c+ü.txt', bytes)
  expect([...server.objects.keys()]).toEqual(['/backups/2026/11/a/b c+ü.txt'])
  server.refusals = 1
  expect(await storage.get('a/b c+ü.txt')).toEqual(bytes)
  expect(await storage.get('another')).toBeUndefined()
})

test.each([
  ['another key', 's3://backups/x', { BACKUP_S3_SECRET_KEY: 'wrong' }, /403 .*SignatureDoesNotMatch/],
  ['another region', 's3://backups/x', { BACKUP_S3_REGION: 'mars' }, /403 .*AuthorizationHeaderMalformed/],
  ['no such bucket', 's3://others/x', {}, /404 .*NoSuchBucket.*Check the BACKUP_S3_ settings/],
])('an error response of the storage is reported: %s', async (_, address, settings, message) => {
  const { storage } = await openBucket(address, settings)
  await expect(storage.put('a', bytes)).rejects.toThrow(message)
})

test('a body that arrived too slowly is sent again, and a key without list permission gets advice', async () => {
  const { server, storage } = await openBucket('s3://backups/x')
  server.refusals = 1
  server.refusal = { status: 400, code: 'RequestTimeout' }
  await storage.put('a', bytes)
  server.refusals = 1
  server.refusal = { status: 403, code: 'AccessDenied' }
  await expect(storage.get('b')).rejects.toThrow(/^GET .*\/x\/b failed: 403 .*AccessDenied.* to list the bucket/)
})

test('an invalid location is refused at once', () => {
  expect(() => openObjectStorage(none, 's3://backups')).toThrow('set BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY')
  expect(() => openObjectStorage(none, 's3:backups')).toThrow(
    '"s3:backups" is not a backup location: use s3://bucket/folder',
  )
})

async function openBucket(address: string, settings = {}) {
  const server = await startS3Server(keys, 'backups')
  onTestFinished(() => server[Symbol.asyncDispose]())
  const storage = openObjectStorage(
    {
      BACKUP_S3_ENDPOINT: server.endpoint,
      BACKUP_S3_REGION: keys.region,
      BACKUP_S3_ACCESS_KEY: keys.accessKey,
      BACKUP_S3_SECRET_KEY: keys.secretKey,
      ...settings,
    },
    address,
  )
  return { server, storage }
}
