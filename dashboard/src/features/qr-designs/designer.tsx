import { Trans, useLingui } from '@lingui/react/macro'
import type { QrDesign } from '@tributary/contract/qr-designs'
import { type KeyboardEvent, useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { usePaused } from '../../ui/paused.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { ColorFields } from './color-fields.tsx'
import { LabelField, LogoField } from './content-fields.tsx'
import { closeDesigner, type DesignTarget } from './designer-state.ts'
import { Downloads } from './downloads.tsx'
import { drawingUrl } from './drawing.ts'
import { QrImage } from './qr-image.tsx'
import { ScopeFields } from './scope-fields.tsx'
import { type Scope, type ScopeId, useScopes } from './scopes.ts'
import { PrintFields, ShapeFields } from './shape-fields.tsx'
import { useVerdict, Verdict } from './verdict.tsx'

/** Changes how QR codes look: of one link, of a domain, or of the workspace. */
export function Designer({ target }: { target: DesignTarget }) {
  const scopes = useScopes(target)
  const [scopeId, setScopeId] = useState<ScopeId>('link')
  const [draft, setDraft] = useState<QrDesign>()
  const scope = scopes.find(({ id }) => id === scopeId)
  const design = draft ?? scope?.design
  const { check, error } = useVerdict(target.url, design)
  const { store, isStoring } = useStore(scope, target)
  const isDrawn = !check?.message
  const isUnreadable = isDrawn && check?.scans === false
  const canSave = draft !== undefined && isDrawn && !isStoring
  const save = async () => {
    if (canSave && (await store(draft))) closeDesigner()
  }
  const reset = async () => {
    if (await store(undefined)) setDraft(undefined)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.stopPropagation()
    void save()
  }
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && closeDesigner()}>
      <DialogContent
        isWide
        title={
          <Trans>
            QR code of <bdi>{target.name}</bdi>
          </Trans>
        }
        footer={
          <>
            <Button kind="quiet" onClick={closeDesigner}>
              <Trans>Cancel</Trans>
            </Button>
            <Button kind={isUnreadable ? 'harm' : 'first'} disabled={!canSave} onClick={() => void save()}>
              {isUnreadable ? <Trans>Save anyway</Trans> : <Trans>Save design</Trans>}
              <Kbd>{/Mac/.test(navigator.platform) ? '⌘↵' : 'Ctrl ↵'}</Kbd>
            </Button>
          </>
        }
      >
        {/* biome-ignore lint/a11y/noStaticElementInteractions: Ctrl+Enter saves from every field */}
        <div onKeyDown={onKeyDown} className="grid gap-6 md:grid-cols-[minmax(0,1fr)_264px]">
          {scope?.error ? (
            <ErrorMessage error={scope.error} retry={scope.retry} />
          ) : !design ? (
            <Skeleton className="w-64" />
          ) : (
            <>
              <div className="flex min-w-0 flex-col gap-4">
                <ScopeFields {...{ scopes, scopeId, target, isStoring }} onScope={setScopeId} onReset={reset} />
                <DesignFields design={design} set={(changed) => setDraft({ ...design, ...changed })} />
              </div>
              <div className="flex min-w-0 flex-col gap-3 max-md:order-first">
                <Preview url={target.url} design={design} isDimmed={!isDrawn} />
                <Verdict {...{ check, error, design }} onChange={setDraft} />
                <Downloads url={target.url} name={target.name} design={design} isDisabled={!isDrawn} />
              </div>
            </>
          )}
        </div>
      </DialogContent>
    </Dialog>
  )
}

type FieldsProps = { design: QrDesign; set(changed: Partial<QrDesign>): void }

function DesignFields(form: FieldsProps) {
  return (
    <>
      <ShapeFields {...form} />
      <ColorFields {...form} />
      <LogoField {...form} />
      <LabelField {...form} />
      <PrintFields {...form} />
    </>
  )
}

function Preview({ url, design, isDimmed }: { url: string; design: QrDesign; isDimmed: boolean }) {
  const src = drawingUrl(url, usePaused(design, 80), { format: 'svg' })
  return (
    <div className={`rounded-lg border bg-hover p-4 ${isDimmed ? 'opacity-60' : ''}`}>
      <QrImage src={src} className="mx-auto w-full max-w-58 max-md:max-w-44" />
    </div>
  )
}

/** Stores the design for the chosen scope, and offers to take that back. */
function useStore(scope: Scope | undefined, { domain, name, onUse }: DesignTarget) {
  const { t } = useLingui()
  const [isStoring, setStoring] = useState(false)
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    setStoring(true)
    try {
      await work()
      return true
    } catch (error) {
      toastError(error)
      return false
    } finally {
      setStoring(false)
    }
  }
  const store = async (design: QrDesign | undefined): Promise<boolean> => {
    if (!scope) return false
    const before = scope.source === scope.id ? scope.design : undefined
    const isDone = await attempt(() => scope.store(design))
    const names = { link: name, domain, workspace: t`the workspace` }
    const title = design ? t`Saved the QR design of ${names[scope.id]}` : t`Removed the QR design of ${names[scope.id]}`
    // A new link has its design only when it is created.
    if (isDone && !onUse) toast({ title, undo: () => attempt(() => scope.store(before)) })
    return isDone
  }
  return { store, isStoring }
}
