import type { Email } from '../../platform/email.ts'

/** A table of an e-mail; the first column is a name, the others are figures. */
export type Table = { title: string; head: string[]; rows: string[][] }
/** What an e-mail says about one notification. Texts may contain names that users chose. */
export type Section = {
  title: string
  sentences: string[]
  tables?: Table[]
  action: { label: string; url: string }
}
type Letter = { workspaceName: string; sections: Section[]; unsubscribeUrl: string; settingsUrl: string }

const most = { title: 150, sentence: 600, cell: 90 }

/** Writes an e-mail with one section or, as a digest, with several; as plain text and as HTML. */
export function composeEmail(letter: Letter): Required<Pick<Email, 'subject' | 'text' | 'html' | 'headers'>> {
  const { unsubscribeUrl, settingsUrl } = letter
  const workspaceName = oneLine(letter.workspaceName, most.cell)
  const sections = letter.sections.map(clean)
  const [first] = sections
  const subject = sections.length === 1 && first ? first.title : `${sections.length} notifications of ${workspaceName}`
  const closing = `You get this e-mail because of your notification settings in the workspace ${workspaceName}.`
  const ending = [closing, `Change them: ${settingsUrl}`, `Unsubscribe: ${unsubscribeUrl}`]
  return {
    subject,
    text: `${[...sections.map((section) => writeText(section, sections.length > 1)), ending.join('\n')].join('\n\n-- \n\n')}\n`,
    html: writeHtml(sections, { closing, unsubscribeUrl, settingsUrl }),
    headers: {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Auto-Submitted': 'auto-generated',
    },
  }
}

/** Makes text of other people one short line, without characters that hide or reorder what follows. */
export function oneLine(text: string, longest: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\p{Cf}]/gu, '')
    .trim()
  const characters = [...line]
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : line
}

function clean({ title, sentences, tables = [], action }: Section): Required<Section> {
  const cells = (row: string[]) => row.map((cell) => oneLine(cell, most.cell))
  return {
    title: oneLine(title, most.title),
    sentences: sentences.map((sentence) => oneLine(sentence, most.sentence)),
    tables: tables.map(({ title, head, rows }) => ({ title: oneLine(title, most.cell), head, rows: rows.map(cells) })),
    action,
  }
}

function writeText({ title, sentences, tables, action }: Required<Section>, isTitled: boolean): string {
  return [
    ...(isTitled ? [title] : []),
    ...sentences,
    ...tables.map(writeTable),
    `${action.label}:\n${action.url}`,
  ].join('\n\n')
}

function writeTable({ title, head: [, ...labels], rows }: Table): string {
  const lines = rows.map(([name, ...figures]) => {
    return `- ${name}: ${figures.map((figure, index) => `${figure} ${labels[index] ?? ''}`.trim()).join(', ')}`
  })
  return [title, ...lines].join('\n')
}

type Ending = { closing: string; unsubscribeUrl: string; settingsUrl: string }

function writeHtml(sections: Required<Section>[], { closing, unsubscribeUrl, settingsUrl }: Ending): string {
  const style = 'font:16px/1.5 sans-serif;max-width:36rem;margin:auto;padding:1rem;color:#1b2226'
  return `<!doctype html><html lang="en"><body style="${style}">
${sections.map(writeSection).join('<hr style="border:0;border-top:1px solid #d5dcdf;margin:2rem 0">')}
<p style="color:#5b666c;font-size:13px;margin-top:2rem">${escapeHtml(closing)}<br>
${writeLink('Change them', settingsUrl)} · ${writeLink('Unsubscribe', unsubscribeUrl)}</p></body></html>`
}

function writeSection({ title, sentences, tables, action }: Required<Section>): string {
  return `<h1 style="font-size:20px">${escapeHtml(title)}</h1>
${sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('\n')}
${tables.map(writeHtmlTable).join('\n')}
<p>${writeLink(action.label, action.url)}</p>`
}

function writeHtmlTable({ title, head, rows }: Table): string {
  const cell = (text: string, index: number) => {
    const side = index === 0 ? 'left;word-break:break-word' : 'right;white-space:nowrap'
    return `style="text-align:${side};padding:4px 8px;border-bottom:1px solid #e4e9eb">${escapeHtml(text)}`
  }
  const row = (cells: string[], tag: 'th' | 'td') =>
    `<tr>${cells.map((text, index) => `<${tag} ${cell(text, index)}</${tag}>`).join('')}</tr>`
  return `<h2 style="font-size:16px">${escapeHtml(title)}</h2>
<table style="border-collapse:collapse;width:100%;font-size:14px">${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`
}

function writeLink(label: string, url: string): string {
  return `<a href="${escapeHtml(url)}" style="color:#00696a">${escapeHtml(label)}</a>`
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
