import { boundedSum } from '@tributary/contract/common'
import type { Customer, ExpandedCustomer } from '@tributary/contract/customers'
import type { Link } from '@tributary/contract/links'
import type { CustomerRow } from './store.ts'

const nobody = { name: 'Deleted customer', email: null, avatar: null, externalId: '', stripeCustomerId: null }

/** The customer in events, webhooks and commissions; an erased customer has no personal data. */
export function present(row: CustomerRow | undefined, id: string): Customer {
  const isThere = row && row.erased_at === null
  const person = isThere && {
    name: row.name,
    email: row.email,
    avatar: row.avatar,
    externalId: row.external_id ?? '',
    stripeCustomerId: row.stripe_customer_id,
  }
  return {
    id,
    ...(person || nobody),
    country: row?.country ?? null,
    sales: Number(row?.sales ?? 0),
    saleAmount: boundedSum(row?.sale_amount ?? 0),
    createdAt: (row?.created_at ?? new Date(0)).toISOString(),
    firstSaleAt: row?.first_sale_at?.toISOString() ?? null,
    subscriptionCanceledAt: row?.subscription_canceled_at?.toISOString() ?? null,
  }
}

/** The customer as its own operations return it. */
export function presentListed(row: CustomerRow): ExpandedCustomer {
  return present(row, row.id)
}

type Partner = NonNullable<ExpandedCustomer['partner']>
type Expanded = {
  link?: Link
  partner?: Partner
  discount?: ExpandedCustomer['discount']
}

/** The customer with the link that referred it, the link's partner, and the discount of the partner's group. */
export function presentExpanded(row: CustomerRow, { link, partner, discount }: Expanded): ExpandedCustomer {
  return {
    ...presentListed(row),
    link: link
      ? {
          id: link.id,
          domain: link.domain,
          key: link.key,
          shortLink: link.shortLink,
          url: link.url,
          programId: link.programId,
        }
      : null,
    programId: link?.programId ?? null,
    partner: partner ?? null,
    discount: discount ?? null,
  }
}

/** The link's partner: without `partners.read`, only id and name. */
export function presentPartner({ id, name, email, image }: Partner, isShown: boolean): Partner {
  if (isShown) return { id, name, email, image }
  // A partner that was created without a name has the e-mail address as name.
  return { id, name: name.includes('@') ? id : name, email: null, image: null }
}
