const lineIntervalMs = 5_000

/** Reports a command's progress: a progress bar on a terminal, else a line every few seconds. */
export function progress(): (percent: number, text: string) => void {
  let last = Date.now()
  return (percent, text) => {
    const line = `${String(percent).padStart(3)} %, ${text}`
    if (process.stderr.isTTY) {
      const bar = '#'.repeat(Math.floor(percent / 5)).padEnd(20, '.')
      process.stderr.write(`\r\x1b[K[${bar}] ${line}${percent === 100 ? '\n' : ''}`)
    } else if (Date.now() - last >= lineIntervalMs) {
      last = Date.now()
      process.stderr.write(`${line}\n`)
    }
  }
}
