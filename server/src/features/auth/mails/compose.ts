import type { Email } from '../../../platform/email.ts'
import { html } from '../pages/html.ts'

export type Mail = Omit<Email, 'to'>
type Ending = { label: string; url: string } | { closing: string }

/** Composes an e-mail, with a link or without, as plain text and as HTML. */
export function composeMail(subject: string, sentences: string[], ending: Ending): Mail {
  const isLink = 'url' in ending
  const closing = isLink ? 'If you did not ask for this, ignore this e-mail.' : ending.closing
  return {
    subject,
    text: [...sentences, ...(isLink ? [ending.url] : []), closing].join('\n\n'),
    html: html`<!doctype html><html lang="en"><body style="font:16px/1.5 sans-serif;max-width:32rem;margin:auto;padding:1rem">
${sentences.map((sentence) => html`<p>${sentence}</p>`)}${isLink && html`<p><a href="${ending.url}">${ending.label}</a></p>`}
<p style="color:#666">${closing}</p></body></html>`.write('en'),
    ...(isLink && { operatorCommand: 'tributary user link <e-mail>' }),
  }
}
