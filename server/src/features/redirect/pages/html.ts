export type Html = { markup: string }

/** Template tag that escapes every string; values that are `Html` already are inserted unchanged. */
export function html(parts: TemplateStringsArray, ...values: (string | Html)[]): Html {
  const markup = parts.map((part, index) => {
    const value = values[index]
    return part + (value === undefined ? '' : typeof value === 'string' ? escaped(value) : value.markup)
  })
  return { markup: markup.join('') }
}

export function joined(pieces: Html[]): Html {
  return { markup: pieces.map(({ markup }) => markup).join('') }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
      .replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
      .replaceAll(/[&<>"']/g, (character) => entities[character] as string)
  )
}
