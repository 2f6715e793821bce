import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  buildPartner,
  buildProgram,
  buildReward,
  decideAll,
  readCommissions,
  recordSale,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { eraseCustomers } from './erase.ts'

const platform = await openTestPlatform()
const { db } = platform

test('erasing a customer clears metadata and the values of conditions from commissions and decisions', async () => {
  const program = await buildProgram(platform)
  const condition = { entity: 'sale', attribute: 'metadata.note', operator: 'equals_to', value: 'x' }
  const modifier = { operator: 'AND', type: 'percentage', amount: 2_000, conditions: [condition] }
  await buildReward(program, { maxDuration: 0, modifiers: [modifier] })
  const partner = await buildPartner(platform, program)
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
