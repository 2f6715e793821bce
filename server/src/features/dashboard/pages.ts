/** The page at /app on a server where the dashboard was not built. */
export function missingPage(nonce: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Dashboard · Tributary</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style nonce="${nonce}">:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}</style>
</head><body><h1>The dashboard is not built on this server</h1>
<p>Run <code>npm run dashboard</code> in the folder of the program, and start the server again.
Images and releases contain it already.</p>
<p>The API works without it: <a href="/docs">documentation</a>, <a href="/account">your account</a>.</p>
</body></html>`
}
