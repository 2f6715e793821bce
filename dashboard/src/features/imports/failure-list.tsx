import { Trans } from '@lingui/react/macro'
import { Button } from '../../ui/button.tsx'
import { formatCsv, saveCsv } from './csv.ts'
import type { Failure } from './import-links.ts'
import type { ImportedFile } from './rows.ts'

const mostShown = 100

/** Rows that can't be imported, each with its line and the reason, and all of them as a file to correct. */
export function FailureList({ file, failures }: { file: ImportedFile; failures: readonly Failure[] }) {
  const save = () => {
    const rows = failures.map(({ row, message }) => [...(file.rows[row.line - 2] ?? []), message])
    saveCsv(`failed-${file.name.replace(/\.\w+$/, '')}.csv`, formatCsv([[...file.head, 'error'], ...rows]))
  }
  return (
    <div className="flex flex-col gap-2">
      <ul className="max-h-80 overflow-y-auto rounded-md border text-sm">
        {failures.slice(0, mostShown).map(({ row, message }) => (
          <li key={row.line} className="flex gap-3 border-b px-3 py-1.5 last:border-b-0 max-md:flex-col max-md:gap-0">
            <span className="w-20 shrink-0 text-muted">
              <Trans>Row {row.line}</Trans>
            </span>
            <span className="min-w-0 flex-1 wrap-anywhere">
              <bdi className="line-clamp-1 text-xs text-muted">{row.link.url || '–'}</bdi>
              {message}
            </span>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center gap-3">
        <Button size="small" onClick={save}>
          <Trans>Download these rows</Trans>
        </Button>
        {failures.length > mostShown && (
          <span className="text-xs text-muted">
            <Trans>The first 100 are shown.</Trans>
          </span>
        )}
      </div>
    </div>
  )
}
