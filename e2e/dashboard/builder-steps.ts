import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { inject } from 'vitest'
import type { BuiltWorkspace } from '../../server/test/build.ts'

export function findBuilder(page: Page) {
  return page.getByRole('dialog', { name: 'New link' })
}

/** Pastes a text into the page, outside of any field, and waits for the builder. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.waitForTimeout(1_500)
  await page.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', ${JSON.stringify(text)})
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
  }`)
  await findBuilder(page).waitFor()
}

/** The link as the API returns it. */
export function findLink({ key, domain }: BuiltWorkspace, slug: string) {
  return createClient({ url: inject('server').api, token: key })('getLinkInfo', { query: { domain, key: slug } })
}
