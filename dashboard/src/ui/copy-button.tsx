import { useLingui } from '@lingui/react/macro'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'

/** Copies a text; a tick says for a moment that it has. */
export function CopyButton({ text, label, className = '' }: { text: string; label: string; className?: string }) {
  const { t } = useLingui()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => setCopied(await copyText(text))
  const Icon = isCopied ? Check : Copy
  return (
    <Button
      kind="quiet"
      size="icon"
      className={`size-7! ${className}`}
      aria-label={label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon size={14} strokeWidth={1.75} aria-hidden className={isCopied ? 'text-good' : ''} />
      <span role="status" className="sr-only">
        {isCopied ? t`Copied` : ''}
      </span>
    </Button>
  )
}

/** Copies a text; false when the browser does not allow it, as on pages without https. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
