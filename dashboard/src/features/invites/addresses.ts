/** The addresses in a pasted text: separated by commas, semicolons, spaces or lines, with or without names. */
export function readAddresses(text: string): string[] {
  const parts = text.split(/[\s,;]+/).map((part) => part.replace(/^[<"'(]+|[>"').]+$/g, '').toLowerCase())
  return [...new Set(parts.filter((part) => part.includes('@')))]
}
