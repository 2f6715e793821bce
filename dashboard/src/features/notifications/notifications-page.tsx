import { Trans, useLingui } from '@lingui/react/macro'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { useChoose } from './choices.ts'
import { DeliveryNotice } from './delivery-notice.tsx'
import { KindRow } from './kind-row.tsx'
import { RecentList } from './recent-list.tsx'

/** Which notifications of this workspace the person gets by e-mail. */
export function NotificationsPage() {
  const { t } = useLingui()
  const { data: settings, error, refetch } = useOperation('getNotificationSettings')
  const choose = useChoose()
  return (
    <>
      <Section
        title={<Trans>Notifications</Trans>}
        description={<Trans>What you hear of by e-mail, for you alone and for this workspace.</Trans>}
      >
        {settings && (
          <div className="max-w-180">
            <DeliveryNotice email={settings.email} delivery={settings.delivery} />
          </div>
        )}
        <Panel className="max-w-180">
          {error && !settings ? (
            <ErrorMessage error={error} retry={() => void refetch()} />
          ) : !settings ? (
            <RowsLoading />
          ) : (
            <ul aria-label={t`Notifications`}>
              {settings.kinds.map((setting) => (
                <KindRow key={setting.kind} setting={setting} onChoose={(isOn) => void choose(setting.kind, isOn)} />
              ))}
            </ul>
          )}
        </Panel>
      </Section>
      <RecentList />
    </>
  )
}
