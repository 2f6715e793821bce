import { Slot } from 'radix-ui'
import type { ComponentProps } from 'react'

const kinds = {
  /** The one action of a page. */
  first: 'border-transparent bg-accent text-on-accent hover:brightness-105',
  plain: 'border-line-strong bg-surface hover:bg-hover',
  quiet: 'border-transparent text-muted hover:bg-hover hover:text-ink',
  harm: 'border-line-strong bg-surface text-harm hover:bg-hover',
}
const sizes = {
  normal: 'h-8 px-2.5',
  small: 'h-7 px-2',
  icon: 'size-8',
}

type Props = ComponentProps<'button'> & { kind?: keyof typeof kinds; size?: keyof typeof sizes; asChild?: boolean }

/** A button is a verb and its object. With `asChild`, its only child (a link) gets the look. */
export function Button({ kind = 'plain', size = 'normal', asChild, className = '', ...rest }: Props) {
  const Part = asChild ? Slot.Root : 'button'
  return (
    <Part
      {...(!asChild && { type: 'button' })}
      className={`inline-flex shrink-0 items-center justify-center gap-2 rounded-md border text-sm font-medium whitespace-nowrap transition-colors select-none disabled:opacity-50 max-md:min-h-11 ${size === 'icon' ? 'max-md:min-w-11' : ''} ${kinds[kind]} ${sizes[size]} ${className}`}
      {...rest}
    />
  )
}
