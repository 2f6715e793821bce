import { expect, test } from 'vitest'
import { stepContext } from '../../../../test/step-context.ts'
import { parseRanges } from '../../../platform/ranges.ts'
import type { RawClick } from '../../redirect/messages.ts'
import { markBot } from './mark-bot.ts'
import { startDraft } from './step.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const inApp =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 334.0.0.0'

test.each<[string, string, string, string]>([
  ['a browser', chrome, '', ''],
  ["an app's embedded browser", inApp, '', ''],
  ['a browser with a bot reason from the redirect', chrome, 'prefetch', 'prefetch'],
  ['a crawler with a bot reason from the redirect', 'Googlebot/2.1', 'head', 'head'],
  ['no user agent with a bot reason from the redirect', '', 'head', 'head'],
  ['no user agent', '', '', 'no-user-agent'],
  ['a blank user agent', '  ', '', 'no-user-agent'],
  ['a search crawler', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', '', 'user-agent'],
  ['a link preview', 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', '', 'user-agent'],
  ['a social preview', 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)', '', 'user-agent'],
  ['a command', 'curl/8.5.0', '', 'user-agent'],
  ['a library', 'python-requests/2.32.0', '', 'user-agent'],
  ['a headless browser', chrome.replace('Chrome', 'HeadlessChrome'), '', 'user-agent'],
  ['a browser with a very long suffix', `${chrome} ${'Extension/1.0 '.repeat(1000)}`, '', ''],
])('%s', (_name, userAgent, edgeReason, bot) => {
  const draft = startDraft({ userAgent, bot: edgeReason } as RawClick)
  const expected = { keep: { raw: draft.raw, event: { ...draft.event, bot } } }
  expect(markBot(draft, stepContext())).toEqual(expected)
})

test.each<[string, Partial<RawClick>, string]>([
  ['a browser on a home network', { ip: '203.0.113.9' }, ''],
  ['a browser in a data centre', { ip: '198.51.100.9' }, 'datacenter'],
  ['a browser in a data centre with IPv6', { ip: '2001:db8:1::9' }, 'datacenter'],
  ['a crawler in a data centre', { ip: '198.51.100.9', userAgent: 'Googlebot/2.1' }, 'user-agent'],
  ['a prefetch from a data centre', { ip: '198.51.100.9', bot: 'prefetch' }, 'prefetch'],
  ['no address', { ip: '' }, ''],
])('with data-centre ranges: %s', (_name, given, bot) => {
  const { has: isDataCentre } = parseRanges('198.51.100.0/24\n2001:db8::/32')
  const draft = startDraft({ userAgent: chrome, bot: '', ...given } as RawClick)
  expect(markBot(draft, stepContext({ isDataCentre }))).toMatchObject({ keep: { event: { bot } } })
})
