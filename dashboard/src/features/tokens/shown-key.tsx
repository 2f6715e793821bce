import { Trans, useLingui } from '@lingui/react/macro'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/notice.tsx'

/** The key itself, which only this moment shows. */
export function ShownKey({ value }: { value: string }) {
  const { t } = useLingui()
  return (
    <div className="flex flex-col gap-3">
      <Notice kind="plain">
        <Trans>Copy the key now and store it where your program reads it. It can’t be shown again.</Trans>
      </Notice>
      <p className="flex items-center gap-1 rounded-md border bg-canvas py-1 pr-1 pl-2.5">
        <code data-key className="min-w-0 flex-1 font-mono text-xs wrap-anywhere select-all">
          {value}
        </code>
        <CopyButton text={value} label={t`Copy the key`} />
      </p>
    </div>
  )
}
