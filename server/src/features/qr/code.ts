import { encodeQR } from 'qr'
import { invalid } from '../../platform/errors.ts'

export type Level = 'L' | 'M' | 'Q' | 'H'
/** A QR code as rows of modules, true for a dark module; without the quiet zone. */
export type Code = boolean[][]

const corrections = { L: 'low', M: 'medium', Q: 'quartile', H: 'high' } as const
const capacities = { L: 2_953, M: 2_331, Q: 1_663, H: 1_273 }

export function encodeText(text: string, level: Level, hasLogo: boolean): Code {
  try {
    const rows = encodeQR(text, 'raw', { ecc: corrections[level], border: 1 })
    return rows.slice(1, -1).map((row) => row.slice(1, -1))
  } catch (error) {
    if ((error as Error).message !== 'Capacity overflow') throw error
    const reason = hasLogo ? `${level}, which a logo needs` : level
    const advice = hasLogo || level !== 'L' ? 'Shorten the URL, or use a lower level and no logo.' : 'Shorten the URL.'
    throw invalid(
      `\`url\` in the query is too long for a QR code of level ${reason}: it has ${Buffer.byteLength(text)} bytes, and ${capacities[level]} fit. ${advice}`,
    )
  }
}

/** The square in the middle of a QR code that a logo covers: whole modules, at most 22 % of the width. */
export function logoArea(code: Code): { from: number; to: number } {
  const most = Math.floor(code.length * 0.22)
  const side = most % 2 === 1 ? most : most - 1
  const from = (code.length - side) / 2
  return { from, to: from + side }
}

export function withoutMiddle(code: Code): Code {
  const { from, to } = logoArea(code)
  const inside = (at: number) => at >= from && at < to
  return code.map((row, y) => (inside(y) ? row.map((dark, x) => dark && !inside(x)) : row))
}
