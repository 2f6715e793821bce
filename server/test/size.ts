/** Returns the short size of a long test for CI, or the full size for `npm run test:long`. */
export function sized<T>(sizes: { short: T; full: T }): T {
  return process.env.TEST_SIZE === 'full' ? sizes.full : sizes.short
}
