import { openRowReader } from '../../platform/row-binary.ts'
import { binaryClicks } from '../redirect/messages.ts'

/** The content of a message of the event log, in either format. Throws when it is damaged. */
export function readLogBody(data: Uint8Array): unknown {
  return data[0] === binaryClicks ? readClicks(data) : JSON.parse(decoder.decode(data))
}

function readClicks(data: Uint8Array): unknown[] {
  const reader = openRowReader(data, 1)
  const clicks: unknown[] = []
  while (!reader.isAtEnd())
    clicks.push({
      at: reader.int64(),
      id: reader.string(),
      workspaceId: reader.string(),
      linkNumber: reader.string(),
      url: reader.string(),
      trigger: reader.string(),
      ip: reader.string(),
      userAgent: reader.string(),
      referer: reader.string(),
      bot: reader.string(),
      country: reader.string(),
      region: reader.string(),
      city: reader.string(),
      continent: reader.string(),
    })
  return clicks
}

const decoder = new TextDecoder()
