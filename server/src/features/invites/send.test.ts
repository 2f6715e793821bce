import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildMember, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { startMailServer } from '../../../test/mail-server.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { inviteEmail } from './email.ts'
import { forgetSentInvites, sendInvites } from './send.ts'
import { createInvites, joinByInvite } from './service.ts'

const platform = await openTestPlatform()

test('an issued invite is e-mailed with a link that works', async () => {
  const { port, said } = await startMailServer()
  const workspace = await buildWorkspace(platform)
  const invited = await buildMember(platform, await buildWorkspace(platform), 'viewer')
  const ctx = contextIn(platform, workspace.id)
  const { invites } = await createInvites(ctx, { email: invited.email, role: 'member' })
  const sending = await openTestPlatform({ SMTP_URL: `smtp://127.0.0.1:${port}` })
  await sendInvites(sending, [{ workspaceId: workspace.id, inviteId: invites[0]?.invite?.id ?? '' }])
  const text = said.join('\n').replaceAll('=\n', '').replaceAll('=3D', '=')
  expect(text).toContain(invited.email)
  const token = /token=([A-Za-z0-9]{43})/.exec(text)?.[1] ?? ''
  expect(await joinByInvite(platform, invited.id, token)).toMatchObject({ workspaceId: workspace.id })
})

test('records of sent invites end after a day', async () => {
  const { id } = await buildWorkspace(platform)
  await createInvites(contextIn(platform, id), { email: `${randomUUID()}@example.com`, role: 'member' })
  await sql`UPDATE invite_emails SET at = now() - interval '25 hours' WHERE workspace_id = ${id}`.execute(platform.db)
  await forgetSentInvites(platform)
  expect((await sql`SELECT FROM invite_emails WHERE workspace_id = ${id}`.execute(platform.db)).rows).toEqual([])
})

test('names in the e-mail stay on one line', () => {
  const { subject, text } = inviteEmail({
    link: 'https://x/invite?token=a',
    invite: { role: 'member', expires_at: new Date('2026-01-15T00:00:00Z') },
    workspace: { name: 'A\r\nBcc: evil@example.com' },
    inviter: { name: 'B\nC', email: 'b@example.com' },
  })
  expect(subject).toBe('Invitation to the workspace A Bcc: evil@example.com')
  expect(text).toContain('B C (b@example.com) invites you')
})
