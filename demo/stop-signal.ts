/** Resolves on ctrl-c, on SIGTERM, or when the npm process that started this one exits. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve())
    // npm can exit without forwarding its signal.
    const parent = process.ppid
    if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && resolve(), 500).unref()
  })
}
