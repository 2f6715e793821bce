import type { Code } from './code.ts'

export type ModuleShape = 'square' | 'rounded' | 'dots'
export type MarkerShape = 'square' | 'rounded' | 'circle'
/** Corner radii: top left, top right, bottom right, bottom left. */
export type Radii = [number, number, number, number]
/** A rectangle with rounded corners, in QR modules. */
export type RoundRect = { x: number; y: number; width: number; height: number; radii: Radii }
/** The three squares by which scanners find the code: a ring and its middle. */
export type Marker = { ring: RoundRect; hole: RoundRect; middle: RoundRect }

const markerSize = 7

/** Returns the shapes of a code's modules without its markers. */
export function moduleShapes(code: Code, shape: ModuleShape): RoundRect[] {
  const shapes: RoundRect[] = []
  code.forEach((row, y) => {
    row.forEach((dark, x) => {
      if (!dark || isMarker(code, x, y)) return
      shapes.push(shape === 'dots' ? dot(x, y) : { x, y, width: 1, height: 1, radii: moduleRadii(code, x, y, shape) })
    })
  })
  return shapes
}

// Dots touch: decoders count dark and light pixels along a line, and a gap between dots confuses them.
function dot(x: number, y: number): RoundRect {
  return { x, y, width: 1, height: 1, radii: evenRadii(0.5) }
}

/** A corner is round if both neighbours beside it are light, so that dark modules flow together. */
function moduleRadii(code: Code, x: number, y: number, shape: ModuleShape): Radii {
  if (shape === 'square') return evenRadii(0)
  const isDark = (dx: number, dy: number) => code[y + dy]?.[x + dx] === true && !isMarker(code, x + dx, y + dy)
  const radius = (dx: number, dy: number) => (isDark(dx, 0) || isDark(0, dy) ? 0 : 0.5)
  return [radius(-1, -1), radius(1, -1), radius(1, 1), radius(-1, 1)]
}

export function markerShapes(code: Code, shape: MarkerShape): Marker[] {
  const far = code.length - markerSize
  return [
    [0, 0],
    [far, 0],
    [0, far],
  ].map(([x = 0, y = 0]) => {
    const square = (inset: number): RoundRect => {
      const side = markerSize - 2 * inset
      return { x: x + inset, y: y + inset, width: side, height: side, radii: evenRadii(markerRadius(shape, side)) }
    }
    return { ring: square(0), hole: square(1), middle: square(2) }
  })
}

function markerRadius(shape: MarkerShape, side: number): number {
  if (shape === 'square') return 0
  return shape === 'circle' ? side / 2 : side * 0.28
}

function isMarker({ length }: Code, x: number, y: number): boolean {
  const far = length - markerSize
  return (x < markerSize && (y < markerSize || y >= far)) || (x >= far && y < markerSize)
}

function evenRadii(radius: number): Radii {
  return [radius, radius, radius, radius]
}

/** Whether a point is inside, relative to the rectangle's top left corner. */
export function isInside({ width, height, radii }: Omit<RoundRect, 'x' | 'y'>, x: number, y: number): boolean {
  const isLeft = x < width / 2
  const isTop = y < height / 2
  const radius = isTop ? (isLeft ? radii[0] : radii[1]) : isLeft ? radii[3] : radii[2]
  const dx = radius - (isLeft ? x : width - x)
  const dy = radius - (isTop ? y : height - y)
  return dx <= 0 || dy <= 0 || dx * dx + dy * dy <= radius * radius
}
