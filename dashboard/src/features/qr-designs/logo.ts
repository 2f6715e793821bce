/** Most characters of a stored logo. */
const mostCharacters = 32_000
const sides = [320, 240, 160, 120, 80, 56]

/** Reads an image file as a PNG that is small enough to be stored with the design. Rejects what is not an image. */
export async function readLogo(file: Blob): Promise<string> {
  const address = URL.createObjectURL(file)
  try {
    const image = new Image()
    image.src = address
    await image.decode()
    for (const side of sides) {
      const data = drawAt(image, side)
      if (data.length <= mostCharacters) return data
    }
    throw new Error('The image is too large.')
  } finally {
    URL.revokeObjectURL(address)
  }
}

function drawAt(image: HTMLImageElement, side: number): string {
  const [width, height] = [image.naturalWidth || side, image.naturalHeight || side]
  const scale = Math.min(1, side / Math.max(width, height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(width * scale))
  canvas.height = Math.max(1, Math.round(height * scale))
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/png')
}
