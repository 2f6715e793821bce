import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { Notification } from '@tributary/contract/notifications'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { Time } from '../../ui/figures.tsx'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { kindTexts } from './kind-texts.ts'

const mostShown = 20

/** The last e-mails to the person about this workspace. */
export function RecentList() {
  const { t } = useLingui()
  const { timeZone } = useWorkspaceSettings()
  const { data: sent, error, refetch } = useOperation('listNotifications', { query: { pageSize: mostShown } })
  return (
    <Section
      title={<Trans>Sent to you</Trans>}
      description={<Trans>The last notifications about this workspace, for 90 days.</Trans>}
    >
      <Panel className="max-w-180 text-sm">
        {error && !sent ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : !sent ? (
          <RowsLoading />
        ) : sent.length === 0 ? (
          <Message title={<Trans>Nothing yet</Trans>}>
            <p>
              <Trans>When something above happens, its e-mail is listed here.</Trans>
            </p>
          </Message>
        ) : (
          <ul aria-label={t`Sent to you`}>
            {sent.map((one) => (
              <li key={one.id} className="flex flex-wrap items-center gap-x-4 border-b px-4 py-2 last:border-b-0">
                <span className="min-w-40 flex-1">{t(kindTexts[one.kind].name)}</span>
                <State kind={stateKinds[one.status]}>{t(describeStatus(one))}</State>
                <span className="text-xs text-muted md:w-28 md:text-right">
                  <Time at={one.sentAt ?? one.createdAt} timeZone={timeZone} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </Section>
  )
}

const stateKinds: Record<Notification['status'], StateKind> = {
  waiting: 'waiting',
  sending: 'waiting',
  sent: 'good',
  unknown: 'waiting',
  failed: 'harm',
}

const statusNames: Record<Notification['status'], MessageDescriptor> = {
  waiting: msg`Waits`,
  sending: msg`Being sent`,
  sent: msg`Sent`,
  unknown: msg`Perhaps sent`,
  failed: msg`Not sent`,
}

const reasonNames: Partial<Record<NonNullable<Notification['reason']>, MessageDescriptor>> = {
  no_mail_server: msg`Not sent: no mail server`,
  late: msg`Not sent in three days`,
  limit: msg`Waits: many today`,
}

function describeStatus({ status, reason }: Notification): MessageDescriptor {
  if (status === 'failed' && reason === 'refused') return msg`Refused by the mail server`
  if (status === 'waiting' && reason === 'refused') return msg`Waits for the mail server`
  return (reason && reasonNames[reason]) ?? statusNames[status]
}
