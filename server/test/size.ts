/** The short form of a long proof for CI, the full one for `npm run test:long`. */
export function sized<T>(sizes: { short: T; full: T }): T {
  return process.env.TEST_SIZE === 'full' ? sizes.full : sizes.short
}
