import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import type { OperationAnswer } from '@tributary/contract/client'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { useLocale } from '../../ui/figures.tsx'
import { formatDay } from '../../ui/format.ts'
import { Skeleton } from '../../ui/skeleton.tsx'

type Attribution = OperationAnswer<'explainAttribution'>
type AttributedBy = Exclude<Attribution['reason'], 'outside_window' | 'no_click'>

const attributed: Record<AttributedBy, MessageDescriptor> = {
  last_click: msg`By the click that was reported with it.`,
  first_click: msg`By the first click of the customer, because the workspace attributes to the first click.`,
  stored_click: msg`By the first click of the customer, which was within the attribution window.`,
  lead: msg`By the lead that it follows.`,
  discount_code: msg`By the discount code that was used.`,
  by_hand: msg`By hand, together with a commission.`,
}
const longestWindow = 3_650

/** Why a lead or sale belongs to its link, or to none and what to do about it. */
export function EventAttribution({ eventId, timeZone }: { eventId: string; timeZone: string }) {
  const { data, error, isPlaceholderData } = useOperation('explainAttribution', { params: { eventId } })
  const shown = isPlaceholderData ? undefined : data
  if (error) return <p className="text-sm text-harm">{error.message}</p>
  if (!shown) return <Skeleton className="w-64" />
  return shown.attributed ? <Attributed {...shown} /> : <NotAttributed {...shown} timeZone={timeZone} />
}

function Attributed({ reason }: Attribution) {
  const { t } = useLingui()
  return (
    <section className="text-sm">
      <h3 className="font-medium">
        <Trans>Attributed</Trans>
      </h3>
      <p className="text-muted">{t(attributed[reason as AttributedBy])}</p>
    </section>
  )
}

function NotAttributed({ reason, click, attributionDays, timeZone }: Attribution & { timeZone: string }) {
  return (
    <section className="flex flex-col gap-2 rounded-md border border-line-strong px-3 py-2.5 text-sm">
      <h3 className="font-medium">
        <Trans>Why is this not attributed?</Trans>
      </h3>
      {reason === 'no_click' ? (
        <p>
          <Trans>
            No click of this customer is known. Report the click id with the lead: the cookie trib_id has it.
          </Trans>
        </p>
      ) : (
        <OutsideWindow {...{ click, attributionDays, timeZone }} />
      )}
    </section>
  )
}

type OutsideProps = Pick<Attribution, 'click' | 'attributionDays'> & { timeZone: string }

function OutsideWindow({ click, attributionDays, timeZone }: OutsideProps) {
  const { can } = useWorkspace()
  const locale = useLocale()
  const needed = click?.neededDays
  const day = click && formatDay(click.clickedAt, locale, timeZone)
  const isLonger = needed !== undefined && needed <= attributionDays
  return (
    <>
      <p>
        {day ? (
          <Trans>The first click of the customer, on {day}, was older than the attribution window.</Trans>
        ) : (
          <Trans>The click was older than the attribution window.</Trans>
        )}{' '}
        {isLonger ? (
          <Plural
            value={attributionDays}
            one="The window has been lengthened since, to # day."
            other="The window has been lengthened since, to # days."
          />
        ) : (
          <Plural value={attributionDays} one="The window is # day." other="The window is # days." />
        )}
      </p>
      {!isLonger && needed !== undefined && needed <= longestWindow && (
        <p>
          <Plural
            value={needed}
            one="With a window of # day or more, later leads and sales like this one are attributed. This one stays as it is."
            other="With a window of # days or more, later leads and sales like this one are attributed. This one stays as it is."
          />
        </p>
      )}
      {can('workspaces.write') && !isLonger && (
        <RouteLink from="/$workspace" to="/$workspace/settings/general" className="self-start underline">
          <Trans>Change the days from click to lead</Trans>
        </RouteLink>
      )}
    </>
  )
}
