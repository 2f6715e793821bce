import { Trans, useLingui } from '@lingui/react/macro'
import { useCommands } from '../../app/commands.ts'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { openDesigner } from './designer-state.ts'
import { DownloadButtons } from './downloads.tsx'
import { drawingUrl } from './drawing.ts'
import { QrImage } from './qr-image.tsx'

type Props = { linkId: string; url: string; name: string; domain: string }

/** The QR code of a link in its design, with its files. */
export function QrPanel({ linkId, url, name, domain }: Props) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const { data, isPlaceholderData, error } = useOperation('getLinkQrDesign', { params: { linkId } })
  const design = isPlaceholderData ? undefined : data?.design
  const open = () => openDesigner({ url, name, domain, linkId })
  useCommands(can('links.write') ? [{ id: 'qr.design', name: t`Design the QR code`, keys: 'q', run: open }] : [])
  return (
    <div className="flex items-center gap-4">
      <div className="w-28 shrink-0">
        {design ? (
          <QrImage src={drawingUrl(url, design, { format: 'svg' })} className="w-full" />
        ) : (
          <span className="block aspect-square rounded-sm bg-hover" />
        )}
      </div>
      <div className="flex min-w-0 flex-col gap-2">
        <h2>
          <Trans>QR code</Trans>
        </h2>
        {error && <p className="text-xs text-harm wrap-anywhere">{error.message}</p>}
        <DownloadButtons url={url} name={name} design={design} isDisabled={!design} />
        {can('links.write') && (
          <Button size="small" className="self-start" onClick={open}>
            <Trans>Design</Trans>
            <Kbd>Q</Kbd>
          </Button>
        )}
      </div>
    </div>
  )
}
