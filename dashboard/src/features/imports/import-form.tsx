import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { ColumnFields } from './column-fields.tsx'
import { recognizeColumns } from './columns.ts'
import { FailureList } from './failure-list.tsx'
import { checkRows, type Failure, importRows } from './import-links.ts'
import { type ImportedFile, namedDomains, readRows } from './rows.ts'

type State =
  | { step: 'map'; error?: string }
  | { step: 'checking' | 'importing'; done: number }
  | { step: 'checked' | 'done'; failures: readonly Failure[]; isStopped?: boolean }

/** The columns of a file, what is wrong with its rows, and the import itself. */
export function ImportForm({ file, onClose }: { file: ImportedFile; onClose(): void }) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const [columns, setColumns] = useState(() => recognizeColumns(file.head))
  const { data: domains } = useOperation('listDomains', { query: { pageSize: 100 } }, { staleTime: 60_000 })
  const own = useMemo(() => domains?.filter(({ archived }) => !archived).map((one) => one.slug) ?? [], [domains])
  const named = useMemo(() => namedDomains(file.rows, columns), [file.rows, columns])
  const canKeep = named.length > 0 && named.every((domain) => own.includes(domain))
  const primary = domains?.find((domain) => domain.primary)?.slug ?? own[0]
  const [chosen, setChosen] = useState<string>()
  const domain = chosen ?? (canKeep ? '' : (primary ?? ''))
  const rows = useMemo(() => readRows(file.rows, { columns, ...(domain && { domain }) }), [file.rows, columns, domain])
  const [state, setState] = useState<State>({ step: 'map' })
  const stop = useRef<AbortController>(undefined)
  const isRunning = state.step === 'checking' || state.step === 'importing'
  useWarning(state.step === 'importing')
  const wrong: Failure[] = rows.flatMap((row) => {
    if (!row.problem) return []
    const message = row.problem === 'url' ? t`It has no destination.` : t`An earlier row has the same address.`
    return [{ row, message }]
  })
  const run = async (step: 'checking' | 'importing', skipped: readonly Failure[]) => {
    const sent = rows.filter((row) => !skipped.some((failure) => failure.row.line === row.line))
    stop.current = new AbortController()
    const { signal } = stop.current
    const settings = { workspace: slug, signal, onProgress: (done: number) => setState({ step, done }) }
    setState({ step, done: 0 })
    try {
      const failures = await (step === 'checking' ? checkRows : importRows)(sent, settings)
      const all = [...skipped, ...failures].sort((a, b) => a.row.line - b.row.line)
      setState({ step: step === 'checking' ? 'checked' : 'done', failures: all })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      setState({ step: 'map', error: signal.aborted ? t`Stopped. Links that were created stay.` : message })
    } finally {
      if (step === 'importing') void client.invalidateQueries({ queryKey: [slug] })
    }
  }
  const failures = 'failures' in state ? state.failures : []
  const ready = rows.length - failures.length
  return (
    <div className="flex flex-col gap-4">
      <Panel className="p-4">
        <h2 className="mb-3">
          <bdi>{file.name}</bdi> · <Plural value={rows.length} one="# row" other="# rows" />
        </h2>
        <ColumnFields
          file={file}
          columns={columns}
          onColumns={(next) => {
            setColumns(next)
            setState({ step: 'map' })
          }}
          domain={{ own, canKeep, value: domain }}
          onDomain={(next) => {
            setChosen(next)
            setState({ step: 'map' })
          }}
          isDisabled={isRunning || state.step === 'done'}
        />
      </Panel>
      <Panel className="flex flex-col gap-3 p-4">
        <div role="status" className="flex flex-col gap-2 text-sm">
          {state.step === 'map' && state.error && <p className="text-harm wrap-anywhere">{state.error}</p>}
          {isRunning && <Progress done={state.done} total={rows.length} isCheck={state.step === 'checking'} />}
          {state.step === 'checked' && (
            <p>
              {t`${plural(ready, { one: '# link can be imported', other: '# links can be imported' })}, ${plural(failures.length, { one: '# row can’t', other: '# rows can’t' })}.`}
            </p>
          )}
          {state.step === 'done' && (
            <p>
              {t`${plural(ready, { one: '# link was imported', other: '# links were imported' })}, ${plural(failures.length, { one: '# row was not', other: '# rows were not' })}.`}
            </p>
          )}
        </div>
        {failures.length > 0 && <FailureList file={file} failures={failures} />}
        <div className="flex flex-wrap gap-2">
          {state.step === 'map' && (
            <Button kind="first" disabled={columns.url === undefined} onClick={() => void run('checking', wrong)}>
              <Trans>Check the rows</Trans>
            </Button>
          )}
          {state.step === 'checked' && (
            <Button kind="first" disabled={ready === 0} onClick={() => void run('importing', failures)}>
              <Trans>
                Import <Plural value={ready} one="# link" other="# links" />
              </Trans>
            </Button>
          )}
          {isRunning ? (
            <Button onClick={() => stop.current?.abort()}>
              <Trans>Stop</Trans>
            </Button>
          ) : (
            <Button kind="quiet" onClick={onClose}>
              <Trans>Choose another file</Trans>
            </Button>
          )}
        </div>
      </Panel>
    </div>
  )
}

function Progress({ done, total, isCheck }: { done: number; total: number; isCheck: boolean }) {
  return (
    <>
      <span>
        {isCheck ? (
          <Trans>
            Checking {done} of {total} rows …
          </Trans>
        ) : (
          <Trans>
            Importing {done} of {total} rows …
          </Trans>
        )}
      </span>
      <progress value={done} max={total} className="h-1.5 w-full accent-accent" />
    </>
  )
}

/** The browser asks before the page is left. */
function useWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isOn])
}
