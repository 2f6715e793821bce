import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { NotificationKind } from '@tributary/contract/notifications'

type Texts = {
  name: MessageDescriptor
  about: MessageDescriptor
  subject: string
  example: string
}

/** What each kind is, and the subject and first words of an e-mail of it; e-mails are in English. */
export const kindTexts: Record<NotificationKind, Texts> = {
  domain_broken: {
    name: msg`Broken domains`,
    about: msg`When visitors no longer reach a domain that worked: its DNS records are wrong, or browsers refuse its certificate. It must fail three checks in 20 minutes.`,
    subject: 'Visitors no longer reach go.example.com',
    example:
      'The short links on go.example.com have not worked since 17 Nov, 09:30. The name should have the record CNAME links.example.net. It leads to 203.0.113.9 now.',
  },
  webhook_disabled: {
    name: msg`Disabled webhooks`,
    about: msg`When a webhook is disabled because all its calls failed for five days, or its receiver does not want any more events.`,
    subject: 'The webhook “Shop” was disabled',
    example:
      'Every call to its receiver has failed since 12 Nov, 18:02. It gets no new events. Repair the receiver, then enable the webhook.',
  },
  key_expiring: {
    name: msg`API keys that expire`,
    about: msg`A week and a day before a key ends. Personal keys concern only their owner; owners and admins get those of machines and web pages.`,
    subject: 'The API key “CI” expires soon',
    example:
      'The key “CI” (trib_a1b…9xyz) stops working at 24 Nov, 12:00. Requests with it then get 401. Rotate it: a new key replaces it.',
  },
  clicks_unusual: {
    name: msg`Unusual clicks`,
    about: msg`In the morning, when links had far more or fewer clicks yesterday than on the same weekday of the last eight weeks. For links with 20 clicks a day or more, and four weeks of clicks.`,
    subject: 'Unusual clicks of 2 links',
    example:
      'go.example.com/spring: 12 clicks, 480 usually, −98 %. go.example.com/launch: 2,310 clicks, 190 usually, +1,116 %.',
  },
  weekly_report: {
    name: msg`Weekly report`,
    about: msg`On Monday morning, in the time zone of the workspace: clicks, leads, sales and revenue beside the week before, the top links and sources, and what rose and fell.`,
    subject: 'Your week: 12,840 clicks (+8.2 %)',
    example:
      'Clicks 12,840 (11,867 before). Leads 312 (298). Sales 47 (51). Revenue €5,180 (€5,460). Top link: go.example.com/launch.',
  },
}
