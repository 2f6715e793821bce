import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { QrDesign } from '@tributary/contract/qr-designs'
import type { ReactNode } from 'react'
import { Choices } from '../../ui/choices.tsx'

export type DesignForm = { design: QrDesign; set(changed: Partial<QrDesign>): void }

const shapes: Record<QrDesign['shape'], [MessageDescriptor, ReactNode]> = {
  square: [msg`Squares`, <path key="p" d="M1 1h6v6h6v6H7V7H1z" />],
  rounded: [msg`Rounded`, <path key="p" d="M4 1h0a3 3 0 0 1 3 3v3h3a3 3 0 0 1 0 6a3 3 0 0 1-3-3V7H4a3 3 0 0 1 0-6z" />],
  dots: [
    msg`Dots`,
    <g key="g">
      <circle cx="4" cy="4" r="2.6" />
      <circle cx="10" cy="10" r="2.6" />
      <circle cx="4" cy="10" r="2.6" />
    </g>,
  ],
}

const markers: Record<QrDesign['markerShape'], [MessageDescriptor, number]> = {
  square: [msg`Square`, 0],
  rounded: [msg`Rounded`, 3.5],
  circle: [msg`Circle`, 6],
}

/** The shapes of modules and markers, each shown as it is drawn. */
export function ShapeFields({ design, set }: DesignForm) {
  const { t } = useLingui()
  return (
    <>
      <Choices
        label={<Trans>Shape</Trans>}
        value={design.shape}
        onChange={(shape) => set({ shape })}
        choices={Object.entries(shapes).map(([value, [name, drawing]]) => ({
          value: value as QrDesign['shape'],
          name: t(name),
          icon: (
            <svg width="14" height="14" viewBox="0 0 14 14" fill="currentColor" aria-hidden="true">
              {drawing}
            </svg>
          ),
        }))}
      />
      <Choices
        label={<Trans>Markers in the corners</Trans>}
        value={design.markerShape}
        onChange={(markerShape) => set({ markerShape })}
        choices={Object.entries(markers).map(([value, [name, radius]]) => ({
          value: value as QrDesign['markerShape'],
          name: t(name),
          icon: (
            <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
              <rect x="1" y="1" width="12" height="12" rx={radius} fill="none" stroke="currentColor" strokeWidth="2" />
              <rect x="4.5" y="4.5" width="5" height="5" rx={radius / 2.2} fill="currentColor" />
            </svg>
          ),
        }))}
      />
    </>
  )
}

const levels: Record<QrDesign['level'], string> = { L: '7 %', M: '15 %', Q: '25 %', H: '30 %' }

/** How much of a code may be damaged, and how much space is around it. */
export function PrintFields({ design, set }: DesignForm) {
  const hasLogo = design.logo !== null
  return (
    <>
      <Choices
        label={<Trans>Readable with damage of up to</Trans>}
        value={hasLogo ? 'H' : design.level}
        onChange={(level) => set({ level })}
        isDisabled={hasLogo}
        hint={hasLogo ? <Trans>With a logo it is always 30 %.</Trans> : undefined}
        choices={Object.entries(levels).map(([value, name]) => ({ value: value as QrDesign['level'], name }))}
      />
      <Choices
        label={<Trans>Margin, in modules</Trans>}
        value={String(design.margin)}
        onChange={(margin) => set({ margin: Number(margin) })}
        choices={[...new Set([0, 1, 2, 4, 6, 8, design.margin])]
          .sort((a, b) => a - b)
          .map((margin) => ({ value: String(margin), name: String(margin) }))}
      />
    </>
  )
}
