import { invalid } from '../../platform/errors.ts'

export type Color = { red: number; green: number; blue: number; hex: string }
type Weights = [red: number, green: number, blue: number]

// The lowest contrast grade in ISO/IEC 15415. Many scanners need more contrast, especially on a dark background.
const leastContrast = 0.2

/** Parses two colours; `name` is the parameter of the first one. */
export function readableColors(foreground: string, background: string, name = 'fgColor'): [Color, Color] {
  const colors: [Color, Color] = [parseColor(foreground), parseColor(background)]
  const difference = contrast(...colors)
  if (difference >= leastContrast) return colors
  throw invalid(
    `\`${name}\` and \`bgColor\` in the query are too alike for scanners: the brightness differs by ${Math.floor(difference * 100)} %, and the minimum is ${leastContrast * 100} %.`,
  )
}

/** Parses a colour of three or six hex digits, with or without `#`. */
export function parseColor(text: string): Color {
  const digits = text.replace('#', '').toLowerCase()
  const six = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits
  const [red = 0, green = 0, blue = 0] = Buffer.from(six, 'hex')
  return { red, green, blue, hex: `#${six}` }
}

/** The smallest brightness difference, from 0 to 1, that a scanner sees between two colours. */
export function contrast(one: Color, other: Color): number {
  return Math.min(...scannerWeights.map((weights) => Math.abs(brightness(one, weights) - brightness(other, weights))))
}

export function isLighter(one: Color, other: Color): boolean {
  return brightness(one, scannerWeights[0]) > brightness(other, scannerWeights[0])
}

/** Scanners convert red, green and blue to grey with different weights. */
const scannerWeights: [Weights, Weights, Weights] = [
  [0.2126, 0.7152, 0.0722],
  [0.299, 0.587, 0.114],
  [0.25, 0.5, 0.25],
]

function brightness({ red, green, blue }: Color, [redPart, greenPart, bluePart]: Weights): number {
  return (red * redPart + green * greenPart + blue * bluePart) / 255
}
