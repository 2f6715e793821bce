import { Trans } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import { type Customer, useReadCustomersAgain } from './queries.ts'
import { confirmationText, customerName } from './texts.ts'

type Props = { customer: Customer; onClose(): void; onErased(): void }

/** Says what an erasure takes and what it leaves, and asks for the customer's name. */
export function EraseCustomer({ customer, onClose, onErased }: Props) {
  const erase = useChange('deleteCustomer')
  const readAgain = useReadCustomersAgain()
  const confirm = () =>
    erase.mutate(
      { params: { id: customer.id } },
      {
        onSuccess: () => {
          onErased()
          readAgain()
        },
      },
    )
  return (
    <ConfirmName
      title={<Trans>Erase customer</Trans>}
      name={confirmationText(customer)}
      action={<Trans>Erase customer</Trans>}
      isBusy={erase.isPending}
      error={erase.error?.message}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p className="font-medium">
        <bdi>{customerName(customer)}</bdi>
      </p>
      <p>
        <Trans>
          Erased for good: name, e-mail address, picture, ids and country; IP addresses of the clicks; metadata of leads
          and sales, also in commissions; webhook events about the person; and personal values in the audit log.
        </Trans>
      </p>
      <p>
        <Trans>
          The clicks, leads, sales and amounts stay as anonymous counts, with their invoice numbers. Export everything
          first if the person asked for it. This can’t be undone.
        </Trans>
      </p>
    </ConfirmName>
  )
}
