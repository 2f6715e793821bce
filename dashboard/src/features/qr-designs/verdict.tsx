import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { QrCaution, QrCheck, QrDesign, QrFix } from '@tributary/contract/qr-designs'
import { useOperation } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { usePaused } from '../../ui/paused.ts'
import { applyFix } from './drawing.ts'

/** Draws and decodes the design on the server once it has not changed for a moment. */
export function useVerdict(url: string, design: QrDesign | undefined) {
  const checked = usePaused(design, 350)
  const { data, error, isPlaceholderData } = useOperation(
    'checkQrDesign',
    { body: { url, ...checked } },
    { enabled: checked !== undefined, staleTime: 600_000 },
  )
  const isCurrent = checked === design && !isPlaceholderData
  return { check: isCurrent ? data : undefined, error: isCurrent ? error : null }
}

const problems: Record<string, MessageDescriptor> = {
  fgColor: msg`Code and background are too alike: their brightness must differ by 20 % at least. Choose a darker code or a lighter background.`,
  markerColor: msg`Markers and background are too alike: their brightness must differ by 20 % at least. Choose darker markers or a lighter background.`,
  url: msg`The address is too long for this code. Use less damage protection, or no logo.`,
}

const fixes: Record<QrFix, MessageDescriptor> = {
  margin: msg`Widen the margin to 4`,
  colors: msg`Use black on white`,
  shape: msg`Use squares`,
  label: msg`Remove the text`,
  logo: msg`Remove the logo`,
}

const cautions: Record<QrCaution, MessageDescriptor> = {
  margin: msg`The margin is narrow. On a coloured page some scanners don’t find the code: use 2 or more.`,
  contrast: msg`The colours are close. In poor light or print some scanners fail: choose a darker code.`,
  inverted: msg`The code is lighter than its background, which many scanners don’t read. Swap the colours.`,
}

type Props = { check: QrCheck | undefined; error: Error | null; design: QrDesign; onChange(design: QrDesign): void }

/** Whether the code can be scanned, and what to change if not. */
export function Verdict({ check, error, design, onChange }: Props) {
  const { t } = useLingui()
  const problem = check?.problem ? problems[check.problem] : undefined
  return (
    <div role="status" className="flex min-h-14 flex-col gap-1.5 text-sm">
      {!check && !error && (
        <p className="text-muted">
          <Trans>Checking whether it scans …</Trans>
        </p>
      )}
      {error && <p className="text-harm wrap-anywhere">{error.message}</p>}
      {check?.scans && (
        <p className="text-good">
          <Trans>It scans: the server drew this code and read it.</Trans>
        </p>
      )}
      {check && !check.scans && (
        <p className="font-medium text-harm">
          {check.message === null ? <Trans>It does not scan.</Trans> : <Trans>It can’t be drawn.</Trans>}
        </p>
      )}
      {check?.message && <p className="text-xs wrap-anywhere">{problem ? t(problem) : plainMessage(check.message)}</p>}
      {check && !check.scans && check.message === null && (
        <>
          <p className="text-xs">
            {check.fixes.length > 0 ? (
              <Trans>One of these changes is enough:</Trans>
            ) : (
              <Trans>No single change is enough. Use black squares on white, a margin of 4, no text and no logo.</Trans>
            )}
          </p>
          <div className="flex flex-wrap gap-1.5">
            {check.fixes.map((fix) => (
              <Button key={fix} size="small" onClick={() => onChange(applyFix(design, fix))}>
                {t(fixes[fix])}
              </Button>
            ))}
          </div>
        </>
      )}
      {check?.message === null &&
        check.cautions.map((caution) => (
          <p key={caution} className="text-xs">
            {t(cautions[caution])}
          </p>
        ))}
    </div>
  )
}

/** The server's words without the name of the request's field. */
function plainMessage(message: string): string {
  const text = message.replace(/^`(\w+)` in the body /, '$1 ').replaceAll('`', '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
