/** Styles of the sign-in and account pages, with the values of dashboard/src/app/tokens.css. */
export const style = `
:root{color-scheme:light dark;
--canvas:light-dark(oklch(0.985 0.002 220),oklch(0.19 0.01 230));
--surface:light-dark(oklch(1 0 0),oklch(0.225 0.012 230));
--hover:light-dark(oklch(0.965 0.004 220),oklch(0.27 0.013 230));
--line:light-dark(oklch(0.925 0.005 220),oklch(0.31 0.014 230));
--line-strong:light-dark(oklch(0.86 0.007 220),oklch(0.4 0.015 230));
--text:light-dark(oklch(0.24 0.015 230),oklch(0.95 0.005 220));
--text-muted:light-dark(oklch(0.48 0.015 230),oklch(0.73 0.012 225));
--accent:light-dark(oklch(0.52 0.095 195),oklch(0.74 0.11 192));
--on-accent:light-dark(oklch(1 0 0),oklch(0.18 0.02 220));
--good:light-dark(oklch(0.5 0.12 150),oklch(0.76 0.14 152));
--harm:light-dark(oklch(0.53 0.19 27),oklch(0.72 0.16 25));
--focus:0 0 0 2px var(--canvas),0 0 0 4px var(--accent)}
*{box-sizing:border-box}
body{margin:0;background:var(--canvas);color:var(--text);font:400 14px/20px 'Inter Variable',Inter,system-ui,-apple-system,'Segoe UI',sans-serif;font-feature-settings:'tnum','cv11';-webkit-font-smoothing:antialiased}
main{max-width:392px;margin:min(10vh,96px) auto 48px;padding:0 16px}
main.wide{max-width:680px;margin-top:40px}
.brand{display:flex;align-items:center;gap:10px;margin:0 0 16px;font-weight:600}
.brand svg{width:24px;height:24px;margin:0;background:none}
section,.card{background:var(--surface);border:1px solid var(--line);border-radius:8px;padding:24px;margin:0 0 16px;overflow-wrap:anywhere}
.card section{padding:16px;margin:16px 0}
h1{font-size:20px;line-height:28px;font-weight:600;letter-spacing:-.01em;margin:0 0 16px}h2{font-size:14px;line-height:20px;font-weight:600;margin:0 0 8px}
p{margin:12px 0}
label{display:block;margin:14px 0 4px;font-size:13px;font-weight:500;color:var(--text-muted)}
input{width:100%;height:36px;padding:0 10px;font:inherit;color:inherit;background:var(--surface);border:1px solid var(--line-strong);border-radius:6px}
button{font:inherit;font-weight:500;min-height:36px;padding:0 14px;margin-top:16px;border:1px solid transparent;border-radius:6px;background:var(--accent);color:var(--on-accent);cursor:pointer}
button:hover{filter:brightness(1.05)}
button.plain,button.danger{background:var(--surface);border-color:var(--line-strong);color:var(--text)}button.plain:hover,button.danger:hover{filter:none;background:var(--hover)}button.danger{color:var(--harm)}
:focus-visible{outline:none;box-shadow:var(--focus)}
a{color:var(--accent);border-radius:2px}p.dim,small{color:var(--text-muted)}small{display:block;margin-top:4px;font-size:12px;line-height:16px}form button{display:block}
.problem{color:var(--harm)}.notice{color:var(--good)}
ul{padding-left:1.2rem}ul.rows{list-style:none;padding:0;margin:8px 0 0}ul.rows li{border-top:1px solid var(--line);padding:10px 0;display:flex;gap:16px;justify-content:space-between;align-items:center}ul.rows button{margin:0}ul.rows li>small{white-space:nowrap}
code{font-size:1.05em}
p button{margin-top:0}.card>:last-child{margin-bottom:0}
svg{display:block;max-width:14rem;background:#fff;margin:16px 0}
[hidden]{display:none}
@media (max-width:480px){main{margin-top:24px}input,button{min-height:44px}input{font-size:16px}}`
