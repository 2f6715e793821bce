import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Panel } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { Refusal } from '../settings/refusal.tsx'
import { removeTestPerson, sendTestLead, sendTestSale, type TestPerson, testPrefix } from './test-person.ts'
import { TestPersonRow } from './test-person-row.tsx'

const readAfter = ['getCustomers', 'listEvents', 'getLinks', 'getLinksCount', 'listSetupSteps']

/** A test lead and sale through the same operations that servers call, marked as tests and removable. */
export function TestEvents({ currency }: { currency: string }) {
  const { t } = useLingui()
  const { slug, can } = useWorkspace()
  const client = useQueryClient()
  const canTest = can('links.write') && can('conversions.write') && can('customers.write')
  const query = { search: testPrefix, includeExpandedFields: 'true' as const, pageSize: 10 }
  const { data: people = [] } = useOperation('getCustomers', { query }, { enabled: canTest, staleTime: 0 })
  const [answer, setAnswer] = useState<{ label: string; code: string }>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
      await Promise.all(readAfter.map((name) => client.invalidateQueries({ queryKey: [slug, name] })))
    }
  }
  const show = (label: string, value: unknown) => setAnswer({ label, code: JSON.stringify(value, undefined, 2) })
  const sendLead = () => run(async () => show(t`Response to POST /track/lead`, (await sendTestLead(slug)).answer))
  const sendSale = (person: TestPerson) =>
    run(async () => show(t`Response to POST /track/sale`, await sendTestSale(slug, person, currency)))
  const remove = (person: TestPerson) =>
    run(async () => {
      await removeTestPerson(slug, person)
      setAnswer(undefined)
      toast({ title: t`Removed the test customer` })
    })
  return (
    <Section
      title={<Trans>Test lead and sale</Trans>}
      description={
        <Trans>
          Sends a lead, then a sale, of a test customer who clicked on a test link, by the calls that your server uses.
          Webhooks and partners’ rules treat them like any other.
        </Trans>
      }
    >
      <Refusal error={error} />
      {canTest && (
        <span>
          <Button disabled={isBusy} onClick={() => void sendLead()}>
            <Trans>Send test lead</Trans>
          </Button>
        </span>
      )}
      {!canTest && (
        <p className="text-sm text-muted">
          <Trans>Owners and admins can send them.</Trans>
        </p>
      )}
      {people.length > 0 && (
        <Panel className="max-w-200">
          <ul aria-label={t`Test customers`}>
            {people.map((person) => (
              <TestPersonRow
                key={person.id}
                person={person}
                isBusy={isBusy}
                onSale={() => void sendSale(person)}
                onRemove={() => void remove(person)}
              />
            ))}
          </ul>
          <p className="border-t px-3.5 py-2 text-xs text-muted">
            <Trans>
              Removing refunds the sale, erases the customer and deletes the link. The click and the lead stay in the
              figures, without a person.
            </Trans>
          </p>
        </Panel>
      )}
      {answer && (
        <div role="status" className="flex max-w-200 flex-col gap-1.5">
          <p className="text-sm text-muted">{answer.label}</p>
          <CodeBlock label={answer.label} code={answer.code} />
        </div>
      )}
    </Section>
  )
}
