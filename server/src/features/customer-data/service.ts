import { type Ctx, hasScope } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { reportChange } from '../../platform/recording.ts'
import { type Customer, requireCustomer } from '../customers/service.ts'
import { hiddenFolders } from '../folders/service.ts'
import { sections } from './sections.ts'

/** Exports everything that is stored about a customer as one JSON document, in chunks. */
export async function exportCustomer(ctx: Ctx, name: string): Promise<{ id: string; chunks: AsyncIterable<string> }> {
  if (hiddenFolders(ctx).length > 0)
    throw forbidden(
      'The export has events of links in every folder, and some folders are hidden from you. Ask an owner of the workspace for access.',
    )
  const customer = await requireCustomer(ctx, name)
  reportChange(ctx, { id: customer.id })
  return { id: customer.id, chunks: writeDocument(ctx, customer) }
}

async function* writeDocument(ctx: Ctx, customer: Customer): AsyncGenerator<string> {
  const { customer: person, ...lists } = sections
  const omitted = Object.entries(lists).filter(
    ([, { scopes = [] }]) => !scopes.every((scope) => hasScope(ctx.actor, scope)),
  )
  yield `{"exportedAt":${JSON.stringify(ctx.now())}`
  yield `,"omitted":${JSON.stringify(omitted.map(([section, { scopes }]) => ({ section, scopes })))}`
  for await (const value of person?.read(ctx, customer) ?? []) yield `,"customer":${JSON.stringify(value)}`
  for (const [name, section] of Object.entries(lists)) {
    if (omitted.some(([section]) => section === name)) continue
    yield `,"${name}":[`
    let isFirst = true
    for await (const value of section.read(ctx, customer)) {
      yield `${isFirst ? '' : ','}\n${JSON.stringify(value)}`
      isFirst = false
    }
    yield ']'
  }
  yield '}\n'
}
