const signatures: [type: string, offset: number, bytes: string][] = [
  ['image/png', 0, '89504e470d0a1a0a'],
  ['image/x-icon', 0, '00000100'],
  ['image/jpeg', 0, 'ffd8ff'],
  ['image/gif', 0, '47494638'],
  ['image/webp', 8, '57454250'],
]

/** Returns the media type of an image by its first bytes, because servers send any type; undefined for all else. */
export function readImageType(bytes: Buffer): string | undefined {
  return signatures.find(([, offset, hex]) => {
    const expected = Buffer.from(hex, 'hex')
    return bytes.subarray(offset, offset + expected.length).equals(expected)
  })?.[0]
}
