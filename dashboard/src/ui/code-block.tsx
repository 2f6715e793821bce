import { useLingui } from '@lingui/react/macro'
import { CopyButton } from './copy-button.tsx'

/** Code to copy: a call or a tag. Long lines wrap, so that nothing is hidden. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  const { t } = useLingui()
  return (
    <div className="relative rounded-md border bg-canvas">
      <pre className="py-2.5 pr-12 pl-3 whitespace-pre-wrap wrap-anywhere">
        <code className="font-mono text-xs">{code}</code>
      </pre>
      <CopyButton text={code} label={t`Copy: ${label}`} className="absolute! top-1 right-1" />
    </div>
  )
}
