import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { Count, Money, Time, useLocale } from '../../ui/figures.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column, Sort } from '../../ui/table-types.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { shortAddress } from '../links/texts.ts'
import type { Customer, CustomerList } from './queries.ts'
import type { CustomerSort } from './search.ts'
import { countryName, customerName } from './texts.ts'

type Props = {
  list: CustomerList
  sort: Sort
  onSort(by: CustomerSort): void
  onRange(first: number, last: number): void
  isDimmed: boolean
}

/** The customers with their value, and the link and partner who brought them. */
export function CustomersTable({ list, sort, onSort, onRange, isDimmed }: Props) {
  const { t } = useLingui()
  const navigate = useNavigate()
  return (
    <Table<Customer>
      label={t`Customers`}
      columns={useColumns()}
      count={list.count}
      row={list.at}
      rowId={({ id }) => id}
      rowLabel={customerName}
      rowHeight={44}
      cardHeight={88}
      card={(customer) => <CustomerCard customer={customer} />}
      sort={sort}
      onSort={(by) => onSort(by as CustomerSort)}
      onOpen={({ id }) => void navigate({ from: '/$workspace', to: '/$workspace/customers/$id', params: { id } })}
      onRange={onRange}
      isDimmed={isDimmed}
    />
  )
}

function useColumns(): Column<Customer>[] {
  const { currency, timeZone } = useWorkspaceSettings()
  const locale = useLocale()
  return useMemo(() => {
    const time = (at: string | null) => at && <Time at={at} timeZone={timeZone} />
    return [
      { id: 'customer', name: <Trans>Customer</Trans>, cell: (customer) => <NameCell customer={customer} /> },
      {
        id: 'country',
        name: <Trans>Country</Trans>,
        width: 124,
        isWide: true,
        cell: ({ country }) => <Words>{countryName(country, locale)}</Words>,
      },
      {
        id: 'link',
        name: <Trans>Link</Trans>,
        width: 180,
        cell: ({ link }) => <Words>{link && shortAddress(link)}</Words>,
      },
      {
        id: 'partner',
        name: <Trans>Partner</Trans>,
        width: 132,
        isWide: true,
        cell: ({ partner }) => <Words>{partner?.name}</Words>,
      },
      {
        id: 'value',
        name: <Trans>Value</Trans>,
        width: 116,
        isNumber: true,
        sort: 'saleAmount',
        cell: ({ saleAmount }) => <Money amount={saleAmount} currency={currency} />,
      },
      {
        id: 'sales',
        name: <Trans>Sales</Trans>,
        width: 72,
        isNumber: true,
        cell: ({ sales }) => <Count value={sales} />,
      },
      {
        id: 'firstSale',
        name: <Trans>First sale</Trans>,
        width: 116,
        sort: 'firstSaleAt',
        cell: ({ firstSaleAt }) => <Muted>{time(firstSaleAt)}</Muted>,
      },
      {
        id: 'created',
        name: <Trans>Created</Trans>,
        width: 112,
        sort: 'createdAt',
        cell: ({ createdAt }) => <Muted>{time(createdAt)}</Muted>,
      },
    ]
  }, [currency, timeZone, locale])
}

function NameCell({ customer }: { customer: Customer }) {
  return (
    <>
      <CustomerName customer={customer} />
      <Reference customer={customer} />
    </>
  )
}

function CustomerCard({ customer }: { customer: Customer }) {
  const { currency, timeZone } = useWorkspaceSettings()
  const { sales, saleAmount, firstSaleAt, createdAt, link } = customer
  return (
    <>
      <CustomerName customer={customer} />
      <Reference customer={customer} />
      <div className="mt-1.5 flex gap-3 overflow-hidden text-xs whitespace-nowrap text-muted">
        {saleAmount !== 0 && <Money amount={saleAmount} currency={currency} />}
        <span>
          <Plural value={sales} one="# sale" other="# sales" />
        </span>
        <Time at={firstSaleAt ?? createdAt} timeZone={timeZone} />
        {link && <bdi className="truncate">{shortAddress(link)}</bdi>}
      </div>
    </>
  )
}

function CustomerName({ customer }: { customer: Customer }) {
  const name = customerName(customer)
  return (
    <RouteLink
      from="/$workspace"
      to="/$workspace/customers/$id"
      params={{ id: customer.id }}
      data-row-link
      className="block min-w-0 truncate rounded-sm font-medium"
      title={name}
    >
      <bdi>{name}</bdi>
    </RouteLink>
  )
}

/** The e-mail address or the external id, whichever the name does not show already. */
function Reference({ customer }: { customer: Customer }) {
  const name = customerName(customer)
  const text = [customer.email, customer.externalId].find((one) => one && one !== name)
  if (!text) return null
  return (
    <p className="truncate text-xs text-muted" title={text}>
      <bdi>{text}</bdi>
    </p>
  )
}

function Words({ children }: { children: string | null | undefined }) {
  if (!children) return null
  return (
    <bdi className="block truncate text-muted" title={children}>
      {children}
    </bdi>
  )
}

function Muted({ children }: { children: ReactNode }) {
  return <span className="text-muted">{children}</span>
}
