import { z } from 'zod'
import { instant, listing, plainText } from './common.ts'
import { operation } from './operation.ts'
import { label } from './tags.ts'

export const payoutModes = ['internal', 'hybrid', 'external'] as const

export const program = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    domain: z.string().nullable().describe('Domain of the short links of partners.'),
    url: z.string().nullable().describe('Default destination of the links of partners.'),
    currency: z.string().describe('Currency of commissions and payouts, in lower case. It never changes.'),
    minPayoutAmount: z.number().int().describe('Smallest payout, in the smallest unit of the currency.'),
    payoutMode: z.enum(payoutModes),
    supportEmail: z.string().nullable(),
    termsUrl: z.string().nullable(),
    termsVersion: z.number().int().describe('Grows by one when `termsUrl` changes.'),
    helpUrl: z.string().nullable(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Program' })
export type Program = z.infer<typeof program>

/** The largest amount of money that a setting may have, in the smallest unit of its currency. */
export const largestAmount = 99_999_999_999

export const webUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .describe('An http or https URL.')
export const emailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .max(190)
  .regex(/^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/, 'it is not an e-mail address')

const settings = {
  domain: plainText(190).nullable().optional().describe('A domain of the workspace.'),
  url: webUrl.nullable().optional().describe('Default destination of the links of partners.'),
  minPayoutAmount: z.number().int().min(0).max(largestAmount).optional(),
  payoutMode: z.enum(payoutModes).optional(),
  supportEmail: emailAddress.nullable().optional(),
  termsUrl: webUrl.nullable().optional(),
  helpUrl: webUrl.nullable().optional(),
}
const name = label(100).describe('Name of the program, which partners see.')

export const newProgram = z
  .object({
    name,
    currency: z
      .string()
      .regex(/^[a-zA-Z]{3}$/, 'it is not a currency code of three letters')
      .toLowerCase()
      .optional()
      .describe("Currency of commissions and payouts; the workspace's currency when omitted."),
    ...settings,
  })
  .meta({ id: 'NewProgram' })
export type NewProgram = z.infer<typeof newProgram>

export const programPatch = z.object({ name: name.optional(), ...settings }).meta({ id: 'ProgramPatch' })
export type ProgramPatch = z.infer<typeof programPatch>

const params = z.object({ id: z.string().describe('Id of the program.') })

export const listPrograms = operation({
  id: 'listPrograms',
  method: 'get',
  path: '/programs',
  summary: 'List programs',
  description: 'A workspace has at most one partner program.',
  tag: 'Programs',
  scope: 'partners.read',
  query: z.object(listing(50, ['createdAt'], 'desc')),
  response: z.array(program),
})

export const getProgram = operation({
  id: 'getProgram',
  method: 'get',
  path: '/programs/{id}',
  summary: 'Get a program',
  description: 'Returns the partner program of the workspace.',
  tag: 'Programs',
  scope: 'partners.read',
  params,
  response: program,
})

export const createProgram = operation({
  id: 'createProgram',
  method: 'post',
  path: '/programs',
  summary: 'Create a program',
  description: 'Creates the partner program of the workspace, and its default group.',
  tag: 'Programs',
  scope: 'partners.write',
  body: newProgram,
  status: 201,
  response: program,
})

export const updateProgram = operation({
  id: 'updateProgram',
  method: 'patch',
  path: '/programs/{id}',
  summary: 'Update a program',
  description:
    'Changes the settings of the program. Omitted fields stay unchanged. The currency never changes, and existing links keep their domain and URL.',
  tag: 'Programs',
  scope: 'partners.write',
  params,
  body: programPatch,
  response: program,
})
