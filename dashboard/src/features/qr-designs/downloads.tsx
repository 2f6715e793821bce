import { Trans, useLingui } from '@lingui/react/macro'
import type { QrDesign } from '@tributary/contract/qr-designs'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'
import { clampSize, drawingUrl, type Format, fileName, formats, sizes } from './drawing.ts'

type Props = {
  url: string
  name: string
  design: QrDesign | undefined
  size?: number
  /** Whether the design can't be drawn, so that there is nothing to download. */
  isDisabled?: boolean
}

/** Files of the code as it is shown, and the picture for the clipboard. */
export function DownloadButtons({ url, name, design, size = sizes.usual, isDisabled }: Props) {
  const { t } = useLingui()
  const address = (format: Format) => drawingUrl(url, design, { format, size })
  return (
    <div className="flex flex-wrap gap-1.5">
      {formats.map((format) => {
        const label = t`Download as ${format.toUpperCase()}`
        if (isDisabled) {
          return (
            <Button key={format} size="small" disabled aria-label={label}>
              {format.toUpperCase()}
            </Button>
          )
        }
        return (
          <Button key={format} size="small" asChild>
            <a href={address(format)} download={fileName(name, format)} aria-label={label}>
              {format.toUpperCase()}
            </a>
          </Button>
        )
      })}
      {canCopyImages() && (
        <Button size="small" disabled={isDisabled} onClick={() => void copyImage()}>
          <Trans>Copy image</Trans>
        </Button>
      )}
    </div>
  )

  async function copyImage() {
    // The clipboard takes a promise, because browsers allow writing only right after the click.
    const png = fetch(address('png')).then((response) => response.blob())
    try {
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })])
      toast({ title: t`The QR code is in the clipboard.` })
    } catch {
      toast({ kind: 'harm', title: t`The browser did not allow copying. Download the PNG instead.` })
    }
  }
}

/** Browsers have a clipboard for images on pages with https only. */
function canCopyImages(): boolean {
  return typeof ClipboardItem !== 'undefined' && navigator.clipboard !== undefined
}

/** The buttons with the width of the PNG. */
export function Downloads(props: Omit<Props, 'size'>) {
  const [text, setText] = useState(String(sizes.usual))
  return (
    <div className="flex flex-col gap-2">
      <Field
        label={<Trans>Width of the PNG in pixels</Trans>}
        hint={<Trans>32 to 2,000. SVG and PDF stay sharp at any size.</Trans>}
      >
        <TextInput
          type="number"
          inputMode="numeric"
          min={sizes.least}
          max={sizes.most}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={() => setText(String(clampSize(Number(text))))}
        />
      </Field>
      <DownloadButtons {...props} size={clampSize(Number(text))} />
    </div>
  )
}
