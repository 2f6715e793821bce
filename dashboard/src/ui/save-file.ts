/** Offers content as a file. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const anchor = document.createElement('a')
  anchor.href = address
  anchor.download = name
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
