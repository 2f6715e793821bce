import { hash } from 'node:crypto'

export type Style = { text: string; digest: string }

export const noticeStyle = style(`
:root{--back:#f4f4f7;--card:#fff;--text:#1b1b20;--soft:#55555f;--line:#dcdce3;--accent:#1d4ed8;--on:#fff;--bad:#b42318}
@media(prefers-color-scheme:dark){:root{--back:#121216;--card:#1c1c22;--text:#f0f0f4;--soft:#b4b4c0;--line:#3a3a44;--accent:#8fb4ff;--on:#0d1526;--bad:#ffa59b}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100svh;display:grid;place-items:center;padding:1.25rem;background:var(--back);color:var(--text);font:1.0625rem/1.55 system-ui,sans-serif}
main{width:100%;max-width:27rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:1rem;overflow-wrap:anywhere}
svg{display:block;width:2.5rem;height:2.5rem;margin-bottom:1rem;fill:none;stroke:var(--accent);stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.3;text-wrap:balance;word-break:auto-phrase}
p{margin:0;color:var(--soft)}
form{display:grid;gap:.5rem;margin-top:1.5rem}
label{font-weight:600}
input,button,.button{width:100%;padding:.7rem 1rem;border:1px solid var(--soft);border-radius:.6rem;background:var(--back);color:inherit;font:inherit}
button,.button{display:block;margin-top:.5rem;border-color:transparent;background:var(--accent);color:var(--on);font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.button{margin-top:1.5rem}
.bad{color:var(--bad);font-weight:600}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
`)

export const frameStyle = style(`
html,body,main{height:100%;margin:0}
iframe{display:block;width:100%;height:100%;border:0}
`)

/** A style sheet and its digest, which the Content-Security-Policy needs to allow it. */
function style(text: string): Style {
  return { text, digest: `sha256-${hash('sha256', text, 'base64')}` }
}
