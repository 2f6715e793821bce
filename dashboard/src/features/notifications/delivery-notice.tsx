import { Trans } from '@lingui/react/macro'
import type { NotificationSettings } from '@tributary/contract/notifications'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { State } from '../../ui/state.tsx'

/** Whether e-mail reaches the person, and what to do when it does not. */
export function DeliveryNotice({ email, delivery }: Pick<NotificationSettings, 'email' | 'delivery'>) {
  if (delivery === 'no_mail_server')
    return (
      <Notice kind="plain">
        <State kind="waiting">
          <Trans>Not sent: no mail server</Trans>
        </State>
        <p className="mt-1 text-muted">
          <Trans>
            This installation has no mail server, so nothing is sent, and nothing is sent later either. Its operator
            sets one up with the setting SMTP_URL.
          </Trans>
        </p>
      </Notice>
    )
  if (delivery === 'email_not_verified')
    return (
      <Notice
        kind="plain"
        action={
          <Button asChild size="small">
            <a href="/account">
              <Trans>Verify your address</Trans>
            </a>
          </Button>
        }
      >
        <State kind="waiting">
          <Trans>Not sent: your address is not verified</Trans>
        </State>
        <p className="mt-1 text-muted wrap-anywhere">
          <Trans>
            Notifications go only to verified addresses. Yours is <bdi>{email}</bdi>.
          </Trans>
        </p>
      </Notice>
    )
  return (
    <p className="text-sm text-muted wrap-anywhere">
      <Trans>
        They go to <bdi className="text-ink">{email}</bdi>.
      </Trans>
    </p>
  )
}
