import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
const nonceBytes = 12
const tagBytes = 16
const level = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

/** Compresses a backup file with zstd; with a key, encrypts it with AES-256-GCM, bound to the file's name. */
export async function pack(name: string, bytes: Buffer, key?: Buffer): Promise<Buffer> {
  const packed = await compress(bytes, level)
  if (!key) return packed
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name))
  const sealed = Buffer.concat([cipher.update(packed), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts and decompresses a backup file. Throws when the key is wrong or the file was changed. */
export async function unpack(name: string, bytes: Buffer, key?: Buffer): Promise<Buffer> {
  if (!key) return decompress(bytes)
  const opener = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
    .setAAD(Buffer.from(name))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return decompress(Buffer.concat([opener.update(bytes.subarray(nonceBytes + tagBytes)), opener.final()]))
}

export function computeChecksum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
