import { expect, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { buildWebhook } from '../../../test/webhooks.ts'
import { openLog } from '../../platform/log.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { tellOfDisabled } from './disable.ts'

const lines: string[] = []
const platform = {
  ...(await openTestPlatform({ API_URL: 'https://api.example.com' })),
  log: openLog('warn', { write: (line) => void lines.push(line) }),
}
const failingSince = new Date('2026-03-01T10:00:00Z')
const disabled = { disabled_at: new Date('2026-03-06T10:00:00Z'), disabled_reason: 'failing' as const }

test('the workspace is told which webhook, since when, and what to do', async () => {
  const { id: workspaceId } = await buildWorkspace(platform)
  await changeWorkspace(platform, workspaceId, { contact_email: 'owner@example.com' })
  const standing = { ...disabled, failing_since: failingSince, name: 'Shop' }
  const webhook = await buildWebhook(platform, workspaceId, { url: 'https://shop.example/hook', ...standing })
  expect(await toldOf({ workspaceId, webhookId: webhook.id })).toMatchObject([
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

test('nobody is told of one that is enabled again or gone', async () => {
  const { id: workspaceId } = await buildWorkspace(platform)
  await changeWorkspace(platform, workspaceId, { contact_email: 'owner@example.com' })
  const webhook = await buildWebhook(platform, workspaceId, { url: 'https://shop.example/hook' })
  expect(await toldOf({ workspaceId, webhookId: webhook.id })).toEqual([])
  expect(await toldOf({ workspaceId, webhookId: 'whk_gone' })).toEqual([])
})

test('the operator reads in the log when there is nobody to write to', async () => {
  const { id: workspaceId, slug } = await buildWorkspace(platform)
  const webhook = await buildWebhook(platform, workspaceId, { url: 'https://shop.example/hook', ...disabled })
  expect(await toldOf({ workspaceId, webhookId: webhook.id })).toMatchObject([
    { remedy: `tributary workspace set ${slug} --contact-email <address>` },
  ])
})

async function toldOf(message: { workspaceId: string; webhookId: string }): Promise<unknown[]> {
  lines.length = 0
  await tellOfDisabled(platform, [message])
  return lines.map((line) => JSON.parse(line))
}
