import { Trans, useLingui } from '@lingui/react/macro'
import type { OperationInput } from '@tributary/contract/client'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../ui/menu.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { toast, toastError } from '../../ui/toast.tsx'

type Query = NonNullable<OperationInput<'exportAuditLog'>['query']>

/** Saves the entries that match the filters as a file, oldest first. The export is an entry of its own. */
export function ExportMenu({ query }: { query: Query }) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const [isBusy, setBusy] = useState(false)
  const run = async (format: 'csv' | 'json') => {
    setBusy(true)
    try {
      const response = await call('exportAuditLog', { query: { ...query, format } }, slug)
      const day = new Date().toISOString().slice(0, 10)
      saveFile(`audit-log-${slug}-${day}.${format === 'csv' ? 'csv' : 'ndjson'}`, await response.blob())
      toast({ title: t`Exported the audit log` })
    } catch (error) {
      toastError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button disabled={isBusy}>
          <Download size={14} strokeWidth={1.75} aria-hidden />
          <Trans>Export</Trans>
        </Button>
      </MenuTrigger>
      <MenuContent align="end">
        <MenuItem onSelect={() => void run('csv')}>
          <Trans>As CSV, for spreadsheets</Trans>
        </MenuItem>
        <MenuItem onSelect={() => void run('json')}>
          <Trans>As JSON, one entry per line</Trans>
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}
