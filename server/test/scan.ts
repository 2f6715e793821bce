import jsqr from 'jsqr'
import { PNG } from 'pngjs'

// The types of jsqr declare the function as `default`; in Node it is the module itself.
const decode = jsqr as unknown as typeof jsqr.default

/** Decodes the QR code of a PNG with another library than the one that draws it. */
export function scan(png: Uint8Array): string | undefined {
  const { data, width, height } = PNG.sync.read(Buffer.from(png))
  return decode(new Uint8ClampedArray(data), width, height)?.data
}

/** Draws a test logo: a disc with a bar on a transparent background. */
export function drawDisc(width = 120, height = width): PNG {
  const picture = new PNG({ width, height })
  for (let at = 0; at < width * height; at++) {
    const [x, y] = [(at % width) / width - 0.5, Math.floor(at / width) / height - 0.5]
    const bar = Math.abs(x - y) < 0.1 ? [255, 220, 0, 255] : [200, 30, 60, 255]
    picture.data.set(Math.hypot(x, y) < 0.48 ? bar : [0, 0, 0, 0], at * 4)
  }
  return picture
}

export function discFile(width?: number, height?: number): Buffer {
  return PNG.sync.write(drawDisc(width, height))
}
