/** Host names of a pasted text, one per line or separated by commas; null when there are none. */
export function cleanHostnames(text: string): string[] | null {
  const names = text.split(/[\s,;]+/).map((name) =>
    name
      .replace(/^https?:\/\//i, '')
      .replace(/[/?#:].*$/, '')
      .toLowerCase(),
  )
  const filled = [...new Set(names.filter((name) => name !== ''))]
  return filled.length > 0 ? filled : null
}
