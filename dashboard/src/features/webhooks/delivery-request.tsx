import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { Choices } from '../../ui/choices.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatExactTime } from '../../ui/format.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { prettyBody, readableBody } from './readable-body.ts'
import { requestHeaders } from './request-headers.ts'
import type { DeliveryInFull } from './webhook-values.ts'

/** The request to the receiver, as people read it or as it was sent. */
export function DeliveryRequest({ delivery, url }: { delivery: DeliveryInFull; url: string }) {
  const { t } = useLingui()
  const [form, setForm] = useState<'people' | 'json'>('people')
  const headers = requestHeaders(delivery)
  return (
    <section className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="mr-auto font-medium">
          <Trans>Request</Trans>
        </h3>
        <Choices<'people' | 'json'>
          label={<span className="sr-only">{t`Show the request`}</span>}
          choices={[
            { value: 'people', name: t`As fields` },
            { value: 'json', name: t`As JSON` },
          ]}
          value={form}
          onChange={setForm}
        />
      </div>
      <p className="text-sm wrap-anywhere">
        POST <bdi>{url}</bdi>
      </p>
      {form === 'json' ? (
        <>
          <CodeBlock label={t`Headers`} code={headers.map(([name, value]) => `${name}: ${value}`).join('\n')} />
          {delivery.body !== null && <CodeBlock label={t`Body`} code={prettyBody(delivery.body)} />}
        </>
      ) : (
        <>
          <Group name={<Trans>Headers</Trans>} rows={headers} />
          {delivery.body !== null && <BodyFields body={delivery.body} />}
        </>
      )}
      {delivery.body === null && (
        <p className="text-sm text-muted">
          <Trans>
            The body is not shown: the customer in it was erased, or you may not read all data of this event.
          </Trans>
        </p>
      )}
    </section>
  )
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

function BodyFields({ body }: { body: string }) {
  const { t } = useLingui()
  const locale = useLocale()
  const { timeZone } = useWorkspaceSettings()
  const read = (value: string) => (instant.test(value) ? formatExactTime(value, locale, timeZone) : value)
  return readableBody(body).map(({ name, fields }) => (
    <Group
      key={name}
      name={name === '' ? t`Event` : name}
      rows={fields.map(([field, value]) => [field, read(value)])}
    />
  ))
}

type GroupProps = { name: React.ReactNode; rows: readonly [name: string, value: string][] }

/** Values in full length: unlike a summary, this is where people look for all of it. */
function Group({ name, rows }: GroupProps) {
  return (
    <div>
      <h4 className="border-b pb-1 text-xs text-muted">{name}</h4>
      <dl className="text-sm">
        {rows.map(([field, value]) => (
          <div key={field} className="grid grid-cols-[128px_minmax(0,1fr)] gap-3 border-b py-1 last:border-b-0">
            <dt className="text-muted wrap-anywhere">{field}</dt>
            <dd dir="auto" className="wrap-anywhere">
              {value}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
