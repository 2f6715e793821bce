import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildMember, buildWorkspace } from '../../../test/build.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { allowLoopback, buildWebhook, queueEvents, startReceiver } from '../../../test/webhooks.ts'
import { startJobs } from '../../platform/jobs.ts'
import { openLog } from '../../platform/log.ts'
import { ensureStreams } from '../../platform/nats.ts'
import { startRelay } from '../../platform/outbox.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { deliver, takeDue } from './deliver.ts'
import { sendDisabledEmails } from './disable.ts'
import { webhooksJobs } from './jobs.ts'
import type { WebhookDisabled } from './messages.ts'
import { openSlots } from './slots.ts'

const lines: string[] = []
const platform = {
  ...(await openTestPlatform({ API_URL: 'https://api.example.com' })),
  log: openLog('warn', { write: (line) => void lines.push(line) }),
}
const failingSince = new Date('2026-03-01T10:00:00Z')
const disabled = { disabled_at: new Date('2026-03-06T10:00:00Z'), disabled_reason: 'failing' as const }

test('the e-mail about a disabled webhook has its name, the start of the failures and the remedy', async () => {
  const { id: workspaceId } = await buildWorkspace(platform)
  await changeWorkspace(platform, workspaceId, { contact_email: 'owner@example.com' })
  const standing = { ...disabled, failing_since: failingSince, name: 'Shop' }
  const webhook = await buildWebhook(platform, workspaceId, { url: 'https://shop.example/hook', ...standing })
  expect(await readEmail({ workspaceId, webhookId: webhook.id })).toMatchObject([
    {
      email: {
        to: 'owner@example.com',
        subject: 'The webhook "Shop" was disabled',
        text: expect.stringMatching(
          new RegExp(
            `https://shop\\.example/hook\\nhas failed since 2026-03-01T10:00:00\\.000Z[^]+PATCH https://api\\.example\\.com/webhooks/${webhook.id} with`,
          ),
        ),
      },
    },
  ])
})

test('no e-mail is sent for a disabled webhook that was enabled again or deleted', async () => {
  const { id: workspaceId } = await buildWorkspace(platform)
  await changeWorkspace(platform, workspaceId, { contact_email: 'owner@example.com' })
  const webhook = await buildWebhook(platform, workspaceId, { url: 'https://shop.example/hook' })
  expect(await readEmail({ workspaceId, webhookId: webhook.id })).toEqual([])
  expect(await readEmail({ workspaceId, webhookId: 'whk_gone' })).toEqual([])
})

test('a contact who is an admin gets no second e-mail, and a receiver that answered 410 causes none', async () => {
  const workspace = await buildWorkspace(platform)
  const { email } = await buildMember(platform, workspace, 'admin')
  await changeWorkspace(platform, workspace.id, { contact_email: email })
  const webhook = await buildWebhook(platform, workspace.id, { url: 'https://shop.example/hook', ...disabled })
  const message = { workspaceId: workspace.id, webhookId: webhook.id }
  expect(await readEmail(message)).toEqual([])
  await changeWorkspace(platform, workspace.id, { contact_email: 'owner@example.com' })
  expect(await readEmail({ ...message, reason: 'gone' })).toEqual([])
  expect(await readEmail(message)).toHaveLength(1)
})

test('a log line informs the operator when the workspace has no contact e-mail', async () => {
  const { id: workspaceId, slug } = await buildWorkspace(platform)
  const webhook = await buildWebhook(platform, workspaceId, { url: 'https://shop.example/hook', ...disabled })
  expect(await readEmail({ workspaceId, webhookId: webhook.id })).toMatchObject([
    { remedy: `tributary workspace set ${slug} --contact-email <address>` },
  ])
})

test('the failed call that disables a webhook sends the e-mail', async () => {
  const engines = await startEngines({ only: ['nats'] })
  const own = { ...(await openOwnDatabase({ ...engines.urls, ...allowLoopback })), log: platform.log }
  await ensureStreams(own.nats, own.config)
  onTestFinished(() => engines.stop())
  const { id: workspaceId } = await buildWorkspace(own)
  await changeWorkspace(own, workspaceId, { contact_email: 'owner@example.com' })
  await using receiver = await startReceiver((response) => response.writeHead(500).end())
  const failing_since = new Date(Date.now() - 5 * 86_400_000)
  const webhook = await buildWebhook(own, workspaceId, { url: receiver.url, failing_since })
  await queueEvents(own, [webhook])
  await sql`UPDATE webhook_deliveries SET tries = 3`.execute(own.db)
  lines.length = 0
  for (const delivery of await takeDue(own, openSlots({ perWebhook: 1, perWorkspace: 1, inAll: 1 })))
    await deliver(own, delivery)
  await using _relay = startRelay(own)
  await using _jobs = await startJobs(own, webhooksJobs)
  const [line] = await eventually(async () => {
    expect(lines).toHaveLength(1)
    return lines
  })
  expect(JSON.parse(line ?? '')).toMatchObject({
    email: { to: 'owner@example.com', text: expect.stringContaining(webhook.id) },
  })
})

async function readEmail(message: WebhookDisabled): Promise<unknown[]> {
  lines.length = 0
  await sendDisabledEmails(platform, [message])
  return lines.map((line) => JSON.parse(line))
}
