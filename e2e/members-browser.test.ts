import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freePort } from '../engines/port.ts'
import { createDatabase } from '../engines/postgres.ts'
import { issueInviteLink } from '../server/src/features/invites/service.ts'
import { openOwnDatabase } from '../server/test/own-database.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const port = String(await freePort())
const api = `http://localhost:${port}`
const password = 'vermilion teapot 7'
const name = `members_${crypto.randomUUID().replaceAll('-', '')}`
// A database without users, so that the server prints a setup link.
const database = await createDatabase(inject('environment').POSTGRES_URL as string, name)
const platform = await openOwnDatabase({ POSTGRES_URL: database, API_URL: api })

let server: ServerProcess
let browser: Browser

type Person = { page: Page; context: BrowserContext }
type Reply = { status: number; body: Record<string, unknown> & { invites: { invite: { id: string } }[] } }

// Skipped without an installed browser, except in CI, which installs one.
describe.skipIf(!existsSync(executablePath) && !process.env.CI)('people of a workspace, in browsers', () => {
  let setupLink = ''
  let owner: Person

  beforeAll(async () => {
    const environment = { ...inject('environment'), POSTGRES_URL: database, API_URL: api, API_PORT: port }
    const limits = { SIGN_IN_VISITS_PER_MINUTE: '100000' }
    server = await startServer({ ...environment, ROLES: 'api', LOG_LEVEL: 'info', ...limits }, (line) => {
      setupLink ||= /"setupLink":"([^"]+)"/.exec(line)?.[1] ?? ''
    })
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    owner = await openPerson()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  test('the setup link makes the first person the owner of a workspace', async () => {
    await owner.page.goto(setupLink)
    await owner.page.fill('#email', 'owner@example.com')
    await owner.page.fill('#name', 'Olga Owner')
    await owner.page.fill('#password', password)
    await owner.page.fill('#workspace', 'Acme')
    await owner.page.getByRole('button', { name: 'Set up' }).click()
    await owner.page.waitForURL(/\/app/)
    const { status, body } = await ask(owner, 'GET', '/workspaces')
    expect([status, body]).toMatchObject([200, [{ name: 'Acme', slug: 'acme', role: 'owner' }]])
  })

  test('a new person joins by an invite, gets another role, and is removed', async () => {
    const id = await invite('new@example.com', 'member')
    const person = await openPerson()
    await person.page.goto(await linkTo(id))
    await person.page.fill('#name', 'Nina New')
    await person.page.fill('#password', password)
    await person.page.getByRole('button', { name: 'Create account and join' }).click()
    await person.page.waitForURL(/\/app/)
    expect((await ask(person, 'POST', '/tags', { name: 'by Nina' })).status).toBe(201)
    const userId = await findUserId('new@example.com')
    expect((await ask(owner, 'PATCH', `/members/${userId}`, { role: 'viewer' })).status).toBe(200)
    await sleep(1_000)
    expect((await ask(person, 'POST', '/tags', { name: 'again' })).status).toBe(403)
    expect((await ask(person, 'GET', '/tags')).status).toBe(200)
    expect((await ask(owner, 'DELETE', `/members/${userId}`)).status).toBe(200)
    await sleep(1_000)
    expect((await ask(person, 'GET', '/tags')).status).toBe(404)
  })

  test('an existing person signs in to join; a foreign, used or expired invite shows its error', async () => {
    const id = await invite('new@example.com', 'viewer')
    const link = await linkTo(id)
    await owner.page.goto(link)
    expect(await owner.page.textContent('main')).toContain('for another e-mail address')
    const person = await openPerson()
    await person.page.goto(link)
    await person.page.getByRole('link', { name: 'Sign in to join' }).click()
    await person.page.fill('#email', 'new@example.com')
    await person.page.fill('#password', password)
    await person.page.getByRole('button', { name: 'Sign in' }).click()
    await person.page.getByRole('button', { name: 'Join' }).click()
    await person.page.waitForURL(/\/app/)
    expect((await ask(person, 'GET', '/tags')).status).toBe(200)
    expect((await person.page.goto(link))?.status()).toBe(409)

    const late = await invite('late@example.com', 'viewer')
    const lateLink = await linkTo(late)
    await sql`UPDATE invites SET expires_at = now() WHERE id = ${late}`.execute(platform.db)
    expect((await person.page.goto(lateLink))?.status()).toBe(410)
    expect(await person.page.textContent('main')).toMatch(/expired on \d+ \w+ \d{4} at \d\d:\d\d UTC\. Ask an owner/)
    const token = new URL(await linkTo(await invite('third@example.com', 'viewer'))).searchParams.get('token')
    expect((await ask(person, 'POST', '/invites/accept', { token })).status).toBe(403)
  })

  async function invite(email: string, role: string): Promise<string> {
    const { status, body } = await ask(owner, 'POST', '/invites', { email, role })
    expect(status, JSON.stringify(body)).toBe(201)
    return body.invites[0]?.invite.id ?? ''
  }
})

async function openPerson(): Promise<Person> {
  const context = await browser.newContext()
  return { context, page: await context.newPage() }
}

async function linkTo(inviteId: string): Promise<string> {
  return (await issueInviteLink(platform, inviteId)).link
}

/** Calls the API from the person's page, as the dashboard will. */
async function ask({ page }: Person, method: string, path: string, body?: unknown): Promise<Reply> {
  return page.evaluate(
    async ([method, path, body]) => {
      const headers = { 'Tributary-Workspace': 'acme', ...(body && { 'Content-Type': 'application/json' }) }
      const response = await fetch(path, { method, headers, ...(body && { body }) })
      return { status: response.status, body: (await response.json()) as Reply['body'] }
    },
    [method, path, body === undefined ? '' : JSON.stringify(body)] as const,
  )
}

async function findUserId(email: string): Promise<string> {
  const result = await sql<{ id: string }>`SELECT id FROM users WHERE email = ${email}`.execute(platform.db)
  return result.rows[0]?.id ?? ''
}
