import { Trans } from '@lingui/react/macro'
import type { QrDesign } from '@tributary/contract/qr-designs'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { usePaused } from '../../ui/paused.ts'
import { openDesigner } from '../qr-designs/designer-state.ts'
import { drawingUrl } from '../qr-designs/drawing.ts'
import { QrImage } from '../qr-designs/qr-image.tsx'
import type { BuilderForm } from './builder-values.ts'
import type { Link } from './queries.ts'
import { shortAddress } from './texts.ts'

type Props = Pick<BuilderForm, 'values'> & {
  link?: Link
  /** The design that a new link gets, if it is not the inherited one. */
  design: QrDesign | undefined
  onDesign(design: QrDesign | undefined): void
}

/** The QR code of the address as it stands in the form, in the design that the link has or will have. */
export function BuilderQr({ values, link, design, onDesign }: Props) {
  const { can } = useWorkspace()
  const { domain } = values
  const forLink = useOperation(
    'getLinkQrDesign',
    { params: { linkId: link?.id ?? '' } },
    { enabled: link !== undefined },
  )
  const forDomain = useOperation(
    'getDomainQrDesign',
    { params: { slug: domain } },
    { enabled: !link && domain !== '' && can('domains.read') },
  )
  const shown = design ?? (link ? forLink : forDomain).data?.design
  const name = shortAddress(values)
  const paused = usePaused(name, 150)
  const url = link?.shortLink ?? `https://${paused}`.slice(0, 500)
  const open = () =>
    openDesigner({ url, name, domain, linkId: link?.id, ...(!link && { draft: design, onUse: onDesign }) })
  return (
    <div className="flex items-center gap-3 rounded-lg border p-3">
      <QrImage src={drawingUrl(url, shown, { format: 'svg' })} className="w-22 shrink-0" />
      <div className="flex min-w-0 flex-col gap-1.5 text-sm">
        <p className="font-medium">
          <Trans>QR code</Trans>
        </p>
        <p className="text-xs text-muted wrap-anywhere">
          {values.key ? <bdi>{name}</bdi> : <Trans>Shows the address once the slug is known.</Trans>}
        </p>
        <Button size="small" className="self-start" onClick={open}>
          <Trans>Design the QR code</Trans>
        </Button>
      </div>
    </div>
  )
}
