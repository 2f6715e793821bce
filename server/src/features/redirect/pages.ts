import type { Page } from './decide.ts'

const texts: Record<Page | 'unavailable', [string, string]> = {
  'not-found': ['Link not found', 'There is no link at this address. Check it for typing errors.'],
  disabled: ['Link disabled', 'This link has been switched off by its owner.'],
  expired: ['Link expired', 'This link is no longer valid.'],
  unavailable: ['Try again shortly', 'This link can’t be looked up at the moment.'],
}

export function renderPage(page: Page | 'unavailable'): string {
  const [title, text] = texts[page]
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}h1{font-size:1.6rem}</style>
<main><h1>${title}</h1><p>${text}</p></main>
</html>
`
}
