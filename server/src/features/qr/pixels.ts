/** An image as rows of red, green, blue and alpha values, from 0 to 255 each. */
export type Pixels = { width: number; height: number; data: Uint8Array }

/** Scales an image: each new pixel is the weighted mean of the old pixels that it covers. */
export function resize(picture: Pixels, width: number, height: number): Pixels {
  const wide = squeeze(premultiplied(picture.data), picture.width, picture.height, width)
  return { width, height, data: separated(squeeze(wide, picture.height, width, height)) }
}

/** Multiplies colours by alpha, so that transparent pixels do not colour their neighbours. */
function premultiplied(data: Uint8Array): Float32Array {
  const result = new Float32Array(data.length)
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3] as number
    for (let channel = at; channel < at + 3; channel++) result[channel] = ((data[channel] as number) * alpha) / 255
    result[at + 3] = alpha
  }
  return result
}

function separated(data: Float32Array): Uint8Array {
  const result = new Uint8ClampedArray(data.length)
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3] as number
    const factor = alpha > 0 ? 255 / alpha : 0
    for (let channel = at; channel < at + 3; channel++) result[channel] = (data[channel] as number) * factor
    result[at + 3] = alpha
  }
  return new Uint8Array(result.buffer)
}

/** Scales all rows of an image to another width and transposes it, so that a second call scales its height. */
function squeeze(data: Float32Array, width: number, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(columns * rows * 4)
  for (let column = 0; column < columns; column++) {
    const { from, weights } = columnWeights(width, columns, column)
    for (let row = 0; row < rows; row++) {
      const target = (column * rows + row) * 4
      const source = (row * width + from) * 4
      for (let tap = 0; tap < weights.length; tap++) {
        const weight = weights[tap] as number
        for (let channel = 0; channel < 4; channel++) {
          turned[target + channel] =
            (turned[target + channel] as number) + weight * (data[source + tap * 4 + channel] as number)
        }
      }
    }
  }
  return turned
}

/** The old pixel columns that make up a new column, and their weights; the nearest column has the most weight. */
function columnWeights(before: number, after: number, column: number): { from: number; weights: number[] } {
  const ratio = before / after
  const reach = Math.max(1, ratio)
  const center = (column + 0.5) * ratio - 0.5
  const from = Math.max(0, Math.ceil(center - reach))
  const to = Math.min(before - 1, Math.floor(center + reach))
  const weights = Array.from({ length: to - from + 1 }, (_, i) => 1 - Math.abs(from + i - center) / reach)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return { from, weights: weights.map((weight) => weight / sum) }
}
