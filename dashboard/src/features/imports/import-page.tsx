import { Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { type DragEvent, useRef, useState } from 'react'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { parseCsv } from './csv.ts'
import { ImportForm } from './import-form.tsx'
import type { ImportedFile } from './rows.ts'

const mostBytes = 20_000_000
const mostRows = 50_000

/** Creates links from a CSV file: choose it, check its columns, look at what is wrong, import. */
export function ImportPage() {
  const { can } = useWorkspace()
  const [file, setFile] = useState<ImportedFile>()
  return (
    <Page title={<Trans>Import links</Trans>}>
      <p className="mb-3 text-sm text-muted">
        <RouteLink from="/$workspace" to="/$workspace/links" className="underline hover:text-ink">
          <Trans>All links</Trans>
        </RouteLink>
      </p>
      {!can('links.write') ? (
        <Panel>
          <Message title={<Trans>You can’t import links</Trans>}>
            <p>
              <Trans>Your role reads links and changes none. Ask an owner or admin for the role of a member.</Trans>
            </p>
          </Message>
        </Panel>
      ) : file ? (
        <ImportForm key={file.name + file.rows.length} file={file} onClose={() => setFile(undefined)} />
      ) : (
        <ChooseFile onFile={setFile} />
      )}
    </Page>
  )
}

function ChooseFile({ onFile }: { onFile(file: ImportedFile): void }) {
  const { t } = useLingui()
  const input = useRef<HTMLInputElement>(null)
  const [error, setError] = useState<string>()
  const read = async (given: File | undefined) => {
    if (!given) return
    setError(undefined)
    if (given.size > mostBytes) return setError(t`The file is larger than 20 MB. Split it into several.`)
    const [head, ...rows] = parseCsv(await given.text())
    if (!head || rows.length === 0)
      return setError(t`The file has no rows. It needs a line with headings and one line per link.`)
    if (rows.length > mostRows) return setError(t`The file has more than 50,000 rows. Split it into several.`)
    onFile({ name: given.name, head, rows })
  }
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    void read(event.dataTransfer.files[0])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a file can be dropped here; the button does the same
    <div onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      <Panel>
        <Message
          title={<Trans>Choose a CSV file, or drop it here</Trans>}
          action={
            <Button kind="first" onClick={() => input.current?.click()}>
              <Trans>Choose a file</Trans>
            </Button>
          }
        >
          <p>
            <Trans>
              The first line has the headings. Exports of Bitly, Rebrandly and Short.io are recognized, and so is the
              export of this page. You see what will happen before anything is created.
            </Trans>
          </p>
          {error && (
            <p role="alert" className="text-harm">
              {error}
            </p>
          )}
        </Message>
        <input
          ref={input}
          type="file"
          hidden
          accept=".csv,.tsv,.txt,text/csv"
          aria-label={t`CSV file`}
          onChange={(event) => {
            void read(event.target.files?.[0])
            event.target.value = ''
          }}
        />
      </Panel>
    </div>
  )
}
