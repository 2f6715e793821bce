import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, Link as RouteLink } from '@tanstack/react-router'
import { ApiError } from '@tributary/contract/client'
import { Download } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { CustomerDetails } from './customer-details.tsx'
import { CustomerFigures } from './customer-figures.tsx'
import { NotForRole } from './customers-states.tsx'
import { exportCustomer } from './export-customer.ts'
import { JourneyPanel } from './journey-panel.tsx'
import { type Customer, useCustomer, useJourney } from './queries.ts'
import { customerName } from './texts.ts'

const EraseCustomer = lazy(async () => ({ default: (await import('./erase-customer.tsx')).EraseCustomer }))
const ErasedCustomer = lazy(async () => ({ default: (await import('./erased-customer.tsx')).ErasedCustomer }))
const route = getRouteApi('/$workspace/customers/$id')

/** One customer: value, ids and journey. */
export function CustomerPage() {
  const { id } = route.useParams()
  const { can } = useWorkspace()
  const [erasedId, setErasedId] = useState<string>()
  if (!can('customers.read')) return <NotForRole scope="page" />
  if (erasedId !== undefined) {
    return (
      <Suspense>
        <ErasedCustomer id={erasedId} />
      </Suspense>
    )
  }
  return <FoundCustomer key={id} id={id} onErased={setErasedId} />
}

function FoundCustomer({ id, onErased }: { id: string; onErased(id: string): void }) {
  const { customer, error, refetch } = useCustomer(id)
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Suspense>
        <ErasedCustomer id={id} />
      </Suspense>
    )
  }
  if (error && !customer) return <ErrorMessage scope="page" error={error} retry={() => void refetch()} />
  if (customer) return <LoadedCustomer customer={customer} onErased={() => onErased(customer.id)} />
  return (
    <Page title={<Trans>Customer</Trans>}>
      <Panel>
        <RowsLoading />
      </Panel>
    </Page>
  )
}

function LoadedCustomer({ customer, onErased }: { customer: Customer; onErased(): void }) {
  const { t } = useLingui()
  const { slug, can } = useWorkspace()
  const [isErasing, setErasing] = useState(false)
  const [isExporting, setExporting] = useState(false)
  const navigate = route.useNavigate()
  const { order } = route.useSearch()
  const journey = useJourney(customer.id, order ?? 'desc')
  const save = async () => {
    setExporting(true)
    try {
      const name = await exportCustomer(customer.id, slug)
      toast({ title: t`Exported everything about this person`, detail: name })
    } catch (error) {
      toastError(error)
    } finally {
      setExporting(false)
    }
  }
  const canErase = can('customers.write')
  useCommands([
    { id: 'customers.export', name: t`Export everything`, keys: 'x', run: () => void (isExporting || save()) },
    ...(canErase
      ? [{ id: 'customers.erase', name: t`Erase customer`, keys: 'Backspace', run: () => setErasing(true) }]
      : []),
  ])
  return (
    <Page
      title={<bdi>{customerName(customer)}</bdi>}
      actions={
        <>
          <Button disabled={isExporting} onClick={() => void save()}>
            <Download size={14} strokeWidth={1.75} aria-hidden />
            <Trans>Export everything</Trans>
          </Button>
          {canErase && (
            <Button kind="harm" onClick={() => setErasing(true)}>
              <Trans>Erase customer</Trans>
            </Button>
          )}
        </>
      }
    >
      <p className="mb-4 text-sm text-muted">
        <RouteLink from="/$workspace" to="/$workspace/customers" className="underline hover:text-ink">
          <Trans>All customers</Trans>
        </RouteLink>
      </p>
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_340px]">
        <div className="flex min-w-0 flex-col gap-4 max-lg:contents">
          <CustomerFigures customer={customer} journey={journey.data?.pages[0]?.journey} />
          <JourneyPanel
            journey={journey}
            order={order ?? 'desc'}
            onOrder={(next) =>
              void navigate({ search: next === 'asc' ? { order: 'asc' } : {}, replace: true, resetScroll: false })
            }
          />
        </div>
        <div className="min-w-0 max-lg:-order-1 max-lg:contents">
          <CustomerDetails customer={customer} journey={journey.data?.pages[0]?.journey} />
        </div>
      </div>
      <Suspense>
        {isErasing && <EraseCustomer customer={customer} onClose={() => setErasing(false)} onErased={onErased} />}
      </Suspense>
    </Page>
  )
}
