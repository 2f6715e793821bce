import type { ReactNode } from 'react'

const hues = {
  red: 25,
  yellow: 95,
  green: 150,
  blue: 255,
  purple: 295,
  brown: 60,
  gray: 230,
  pink: 350,
} as const
export type TagColor = keyof typeof hues

/** A word with a colour that people chose. */
export function Tag({ color, children }: { color: TagColor; children: ReactNode }) {
  const isGrey = color === 'gray'
  return (
    <span
      dir="auto"
      style={tagStyle(hues[color], isGrey)}
      className="inline-block max-w-36 truncate rounded-sm px-1.5 text-xs leading-5"
    >
      {children}
    </span>
  )
}

function tagStyle(hue: number, isGrey: boolean) {
  const [soft, strong] = isGrey ? [0.008, 0.02] : [0.035, 0.09]
  return {
    background: `light-dark(oklch(0.945 ${soft} ${hue}), oklch(0.32 ${soft} ${hue}))`,
    color: `light-dark(oklch(0.42 ${strong} ${hue}), oklch(0.86 ${strong} ${hue}))`,
  }
}
