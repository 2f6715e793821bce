import type { Email } from '../../../platform/email.ts'
import { html } from '../pages/html.ts'

export type Mail = Omit<Email, 'to'>

/** Composes an e-mail with one link, as plain text and as HTML. */
export function composeMail(subject: string, sentences: string[], link: { label: string; url: string }): Mail {
  const closing = 'If you did not ask for this, ignore this e-mail.'
  return {
    subject,
    text: [...sentences, link.url, closing].join('\n\n'),
    html: html`<!doctype html><html lang="en"><body style="font:16px/1.5 sans-serif;max-width:32rem;margin:auto;padding:1rem">
${sentences.map((sentence) => html`<p>${sentence}</p>`)}<p><a href="${link.url}">${link.label}</a></p>
<p style="color:#666">${closing}</p></body></html>`.markup,
    operatorCommand: 'tributary user link <e-mail>',
  }
}
