import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildEarner, decideAll, readCommissions, recordSale } from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { sleep } from '../../platform/clock.ts'
import { transaction } from '../../platform/postgres.ts'
import { deleteCustomer } from '../customers/service.ts'
import { lockPartners } from '../partners/service.ts'
import { type Conversion, conversionsByNumber } from '../track/service.ts'
import { decideBatch } from './decide-batch.ts'
import { eraseCustomers } from './erase.ts'
import { loadBatch } from './load.ts'
import { deleteQueued } from './queue-store.ts'
import { writeChanges } from './write.ts'

const platform = await openTestPlatform()
const { db } = platform

test('erasing a customer clears metadata and the values of conditions from commissions and decisions', async () => {
  const condition = { entity: 'sale', attribute: 'metadata.note', operator: 'equals_to', value: 'x' }
  const modifier = { operator: 'AND', type: 'percentage', amount: 2_000, conditions: [condition] }
  const { program, partner } = await buildEarner(platform, { maxDuration: 0, modifiers: [modifier] })
  const metadata = { note: 'personal-note' }
  const { customer } = await recordSale(platform, program, partner, { metadata })
  await recordSale(platform, program, partner, { metadata, customer })
  await decideAll(platform, program)
  const before = await readCommissions(program)
  const find = async () => {
    const result = await sql<{ text: string }>`
      SELECT c::text || d::text AS text FROM commissions c JOIN commission_details d ON d.commission_number = c.number
        WHERE c.workspace_id = ${program.ctx.workspaceId}
      UNION ALL SELECT d::text FROM commission_decisions d WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db)
    return result.rows.filter(({ text }) => text.includes('personal-note')).length
  }
  expect(await find()).toBeGreaterThan(1)
  await eraseCustomers(platform, [{ workspaceId: program.ctx.workspaceId, customerId: customer.id }])
  expect(await find()).toBe(0)
  expect(await readCommissions(program)).toEqual(before)
})

test('an erasure beside a decision leaves no metadata in its commission', async () => {
  const { program, partner } = await buildEarner(platform)
  const { workspaceId } = program.ctx
  let erasing: Promise<void> | undefined
  await transaction(program.ctx, async (ctx) => {
    await lockPartners(ctx.db, workspaceId, [partner.number])
    const { customer, number } = await recordSale(platform, program, partner, { metadata: { note: 'personal-note' } })
    const [conversion] = await conversionsByNumber(ctx, [number])
    const events = [{ conversion: conversion as Conversion, partnerNumber: partner.number }]
    const batch = await loadBatch(ctx, [partner], events)
    await deleteCustomer(program.ctx, customer.id)
    let isDone = false
    erasing = eraseCustomers(platform, [{ workspaceId, customerId: customer.id }]).then(() => {
      isDone = true
    })
    await sleep(500)
    expect(isDone).toBe(false)
    const changes = decideBatch(batch, events)
    expect(changes.created[0]?.metadata).toContain('personal-note')
    await writeChanges(ctx, changes)
    await deleteQueued(ctx.db, workspaceId, [number])
  })
  await erasing
  const result = await sql<{ text: string }>`SELECT c::text || d::text AS text FROM commissions c
    JOIN commission_details d ON d.commission_number = c.number WHERE c.workspace_id = ${workspaceId}`.execute(db)
  expect(result.rows).toHaveLength(1)
  expect(result.rows[0]?.text).not.toContain('personal-note')
})
