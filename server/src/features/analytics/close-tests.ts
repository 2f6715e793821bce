import type { Platform } from '../../platform/context.ts'
import { clicksByUrl } from '../events/service.ts'
import { dueTests, settleTest } from '../links/service.ts'
import { winnerOf } from './winner.ts'

/** The winner becomes the destination; without one the link keeps what it has. */
export async function closeTests(platform: Platform): Promise<void> {
  for (const test of await dueTests(platform)) {
    const clicks = await clicksByUrl(platform, test.workspaceId, test.linkNumber, test.startedAt)
    const winner = winnerOf(
      test.variants,
      clicks.map(({ url, clicks }) => ({ url, clicks, leads: 0 })),
    )
    await settleTest(platform, test, winner?.url)
    platform.log.info({ link: test.linkId, winner: winner?.url }, 'An A/B test is over')
  }
}
