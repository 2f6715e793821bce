/** What the address of the page says: the check that is shown. */
export type CheckSearch = { check?: string }

/** Reads the address; what it doesn't know is dropped. */
export function parseCheckSearch({ check }: Record<string, unknown>): CheckSearch {
  return typeof check === 'string' && /^[\w-]{1,100}$/.test(check) ? { check } : {}
}
