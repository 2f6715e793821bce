import type { Config } from '../../platform/config.ts'
import { openRowWriter } from '../../platform/row-binary.ts'
import { binaryClicks, type RawClick } from './messages.ts'

/** The clicks of one message of the event log, while it fills. */
export type ClickBody = {
  add(click: RawClick): void
  /** Characters of JSON, or bytes. */
  size(): number
  /** The message. No click may be added afterwards. */
  finish(): string | Buffer
  /** The same clicks for the spool, which is JSON: an earlier version may read it. */
  json(): string
}

export function openClickBody(format: Config['CLICK_LOG_FORMAT']): ClickBody {
  return format === 'binary' ? openBinaryBody() : openJsonBody()
}

function openJsonBody(): ClickBody {
  let text = ''
  const json = () => `[${text}]`
  return {
    add(click) {
      text += text === '' ? JSON.stringify(click) : `,${JSON.stringify(click)}`
    },
    size: () => text.length,
    finish: json,
    json,
  }
}

function openBinaryBody(): ClickBody {
  const clicks: RawClick[] = []
  const writer = openRowWriter(usualBytes)
  writer.uint8(binaryClicks)
  return {
    add(click) {
      clicks.push(click)
      writer.int64(click.at)
      writer.string(click.id)
      writer.string(click.workspaceId)
      writer.string(click.linkNumber)
      writer.string(click.url)
      writer.string(click.trigger)
      writer.string(click.ip)
      writer.string(click.userAgent)
      writer.string(click.referer)
      writer.string(click.bot)
      writer.string(click.country)
      writer.string(click.region)
      writer.string(click.city)
      writer.string(click.continent)
    },
    size: writer.size,
    finish: writer.finish,
    json: () => JSON.stringify(clicks),
  }
}

const usualBytes = 16_384
