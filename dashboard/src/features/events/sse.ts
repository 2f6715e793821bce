/** A message of an event stream: `id` to resume after it, and its data, if it has some. */
export type StreamMessage = { id: string | undefined; data: string | undefined }

/** More text than this without the end of a message is an error: a message is one event. */
const mostBuffered = 8_000_000

/**
 * Returns a function that takes the text of a `text/event-stream` in pieces, cut anywhere, and returns the messages that
 * are complete. It follows the HTML standard, except that a block with only an id is a message too: the server sends its
 * position that way. The last id that was received stays in force.
 */
export function openStreamParser(): (text: string) => StreamMessage[] {
  let rest = ''
  let isStart = true
  let id: string | undefined
  let data: string[] = []
  let hasId = false
  let size = 0

  function readLine(line: string): StreamMessage | undefined {
    if (line === '') {
      const message = data.length > 0 || hasId ? { id, data: data.length > 0 ? data.join('\n') : undefined } : undefined
      data = []
      hasId = false
      size = 0
      return message
    }
    size += line.length
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') data.push(value)
    if (name === 'id' && !value.includes('\0')) {
      id = value
      hasId = true
    }
    return undefined
  }

  return (text) => {
    if (isStart && text !== '') {
      isStart = false
      text = text.replace(/^\uFEFF/, '')
    }
    rest += text
    const messages: StreamMessage[] = []
    // A carriage return at the end may be the first half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?=.)/s)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const message = readLine(line)
      if (message) messages.push(message)
    }
    if (rest.length + size > mostBuffered) throw new Error('A message of the event stream is too long.')
    return messages
  }
}
