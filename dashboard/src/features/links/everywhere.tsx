import { useLingui } from '@lingui/react/macro'
import { Link2 } from 'lucide-react'
import { lazy, Suspense, useEffect } from 'react'
import { useCommands } from '../../app/commands.ts'
import { loadMessages } from '../../app/languages.ts'
import { lazyPart } from '../../app/lazy-part.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { useDesignTarget } from '../qr-designs/designer-state.ts'
import { openBuilder, useBuilderStart } from './builder-state.ts'

const loadBuilder = async () => (await Promise.all([import('./builder.tsx'), loadMessages('qr-designs')]))[0]
const Builder = lazy(async () => ({ default: (await loadBuilder()).Builder }))
const Designer = lazyPart(['qr-designs'], async () => (await import('../qr-designs/designer.tsx')).Designer)

/** The builder, which C and a pasted URL open on every page, and the designer of QR codes. */
export function LinksEverywhere() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const start = useBuilderStart()
  const target = useDesignTarget()
  const isAllowed = can('links.write')
  useCommands(
    isAllowed ? [{ id: 'links.create', name: t`Create link`, keys: 'c', icon: Link2, run: () => openBuilder() }] : [],
  )
  useEffect(() => {
    if (!isAllowed) return
    // Loaded while nothing else happens, so that the builder opens at once.
    const timer = setTimeout(() => void loadBuilder(), 1_500)
    document.addEventListener('paste', openPasted)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('paste', openPasted)
    }
  }, [isAllowed])
  return (
    <>
      <Suspense>{start && isAllowed && <Builder key={start.edit?.updatedAt} start={start} />}</Suspense>
      <Suspense>{target && isAllowed && <Designer target={target} />}</Suspense>
    </>
  )
}

function openPasted({ target, clipboardData }: ClipboardEvent): void {
  const isField = target instanceof Element && target.closest('input, textarea, [contenteditable], [role=dialog]')
  const text = clipboardData?.getData('text/plain').trim() ?? ''
  if (!isField && /^https?:\/\/\S+$/i.test(text)) openBuilder({ url: text.slice(0, 32_000) })
}
