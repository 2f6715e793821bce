import { z } from 'zod'
import { instant, plainText } from './common.ts'

export const rewardEvents = ['click', 'lead', 'sale'] as const
export type RewardEventName = (typeof rewardEvents)[number]
export const rewardTypes = ['flat', 'percentage'] as const
export const spendLimitIntervals = ['day', 'week', 'month', 'allTime'] as const
export const spendLimitScopes = ['partner', 'customer', 'group', 'program'] as const

const listOperators = ['equals_to', 'not_equals', 'in', 'not_in'] as const
const textOperators = ['starts_with', 'ends_with', 'contains', 'not_contains'] as const
const orderOperators = ['greater_than', 'greater_than_or_equal', 'less_than', 'less_than_or_equal'] as const
export const conditionOperators = [...listOperators, ...textOperators, ...orderOperators] as const
export type ConditionOperator = (typeof conditionOperators)[number]

const entities = ['customer', 'partner', 'sale', 'lead'] as const
type AttributeKind = 'country' | 'source' | 'saleType' | 'text' | 'number' | 'date' | 'metadata'

/** What each attribute of a condition holds; `metadata.<key>` of a sale or lead is not listed. */
const attributeKinds: Record<(typeof entities)[number], Record<string, AttributeKind>> = {
  customer: {
    country: 'country',
    source: 'source',
    subscriptionDurationMonths: 'number',
    subscriptionStartDate: 'date',
    signupDate: 'date',
  },
  partner: {
    country: 'country',
    totalClicks: 'number',
    totalLeads: 'number',
    totalConversions: 'number',
    totalSaleAmount: 'number',
    totalCommissions: 'number',
  },
  sale: { productId: 'text', amount: 'number', type: 'saleType' },
  lead: {},
}

const operatorsByKind: Record<AttributeKind, readonly ConditionOperator[]> = {
  country: listOperators,
  source: listOperators,
  saleType: listOperators,
  text: [...listOperators, ...textOperators],
  number: [...listOperators, ...orderOperators],
  date: [...listOperators, ...orderOperators],
  metadata: conditionOperators,
}

const valuesByKind: Record<AttributeKind, { schema: z.ZodType; expected: string }> = {
  country: { schema: z.string().regex(/^[A-Z]{2}$/), expected: 'a country code of two capital letters' },
  source: { schema: z.enum(['tracked', 'submitted', 'trial']), expected: 'tracked, submitted or trial' },
  saleType: { schema: z.enum(['new', 'recurring']), expected: 'new or recurring' },
  text: { schema: z.string(), expected: 'a text' },
  number: { schema: z.number().int().min(0), expected: 'a whole number, 0 or more' },
  date: { schema: z.iso.date(), expected: 'a date such as 2026-01-31' },
  metadata: { schema: z.union([z.string(), z.number()]), expected: 'a text or a number' },
}

/** The kind of an attribute, or undefined when the entity has no such attribute. */
export function attributeKind(entity: (typeof entities)[number], attribute: string): AttributeKind | undefined {
  const hasMetadata = entity === 'sale' || entity === 'lead'
  if (hasMetadata && /^metadata\../s.test(attribute)) return 'metadata'
  return Object.hasOwn(attributeKinds[entity], attribute) ? attributeKinds[entity][attribute] : undefined
}

const conditionValue = z.union([plainText(500), z.number()])

export const rewardCondition = z
  .strictObject({
    entity: z.enum(entities),
    attribute: plainText(200).describe(
      'Attribute of the entity, such as `country`, `totalSaleAmount`, `productId` or `metadata.plan`.',
    ),
    operator: z.enum(conditionOperators),
    value: z
      .union([conditionValue, z.array(conditionValue).min(1).max(300)])
      .describe('Value to compare with; a list for the operators `in` and `not_in`.'),
  })
  .superRefine(({ entity, attribute, operator, value }, context) => {
    const kind = attributeKind(entity, attribute)
    const add = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (!kind) return add('attribute', `a ${entity} has no attribute ${attribute}`)
    if (!operatorsByKind[kind].includes(operator)) {
      return add('operator', `${attribute} takes only ${operatorsByKind[kind].join(', ')}`)
    }
    const isList = operator === 'in' || operator === 'not_in'
    if (isList !== Array.isArray(value)) {
      return add('value', isList ? `${operator} takes a list` : `${operator} takes one value, not a list`)
    }
    const { schema, expected } = valuesByKind[kind]
    if (![value].flat().every((one) => schema.safeParse(one).success)) add('value', `it is not ${expected}`)
  })
  .meta({ id: 'RewardCondition' })
export type RewardCondition = z.infer<typeof rewardCondition>

const amountInCents = z
  .number()
  .int()
  .min(0)
  .max(99_999_999)
  .describe("Amount of a flat reward, in the smallest unit of the program's currency.")
const amountInPercentage = z
  .number()
  .min(0)
  .max(100)
  .refine((percent) => Math.abs(percent * 100 - Math.round(percent * 100)) < 1e-9, 'it has more than two decimals')
  .describe('Percentage of the sale amount, with up to two decimals.')
const maxDuration = z
  .number()
  .int()
  .min(0)
  .max(600)
  .nullable()
  .describe("Months from the customer's first sale in which sales earn: 0 for the first sale only, null for ever.")

const rate = {
  type: z.enum(rewardTypes),
  amountInCents: amountInCents.nullish(),
  amountInPercentage: amountInPercentage.nullish(),
}

const rewardModifier = z
  .strictObject({
    operator: z.enum(['AND', 'OR']).default('AND').describe('Whether all conditions must be true, or one.'),
    conditions: z.array(rewardCondition).min(1).max(10),
    ...rate,
    maxDuration: maxDuration.optional().describe('Months as in the reward, which is the default.'),
  })
  .superRefine(checkRate)
  .meta({ id: 'NewRewardModifier' })

/** The terms of a reward, without its event. */
export const rewardTerms = {
  ...rate,
  maxDuration: maxDuration.optional(),
  modifiers: z
    .array(rewardModifier)
    .max(20)
    .optional()
    .describe('Other terms under conditions. Of those that match, the one with the highest earnings applies.'),
  spendLimitAmount: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000_000)
    .nullish()
    .describe('Most that the reward pays in an interval; null for no limit.'),
  spendLimitInterval: z.enum(spendLimitIntervals).nullish().describe('Interval of the limit, in UTC.'),
  spendLimitScope: z.enum(spendLimitScopes).nullish().describe('What the limit applies to: each partner by default.'),
  description: plainText(100).nullish(),
}

/** Everything that decides what an event earns, as sent. */
export const rewardInput = z.object({ event: z.enum(rewardEvents), ...rewardTerms }).superRefine(checkTerms)
export type RewardInput = z.output<typeof rewardInput>

const presentedModifier = z
  .strictObject({
    operator: z.enum(['AND', 'OR']),
    conditions: z.array(rewardCondition),
    type: z.enum(rewardTypes),
    amountInCents: amountInCents.nullable(),
    amountInPercentage: amountInPercentage.nullable(),
    maxDuration: maxDuration.optional(),
  })
  .meta({ id: 'RewardModifier' })
export type RewardModifier = z.infer<typeof presentedModifier>

/** The terms of a reward, as returned. */
export const presentedTerms = {
  event: z.enum(rewardEvents),
  type: z.enum(rewardTypes),
  amountInCents: amountInCents.nullable(),
  amountInPercentage: amountInPercentage.nullable(),
  maxDuration,
  modifiers: z.array(presentedModifier),
  spendLimitAmount: z.number().nullable(),
  spendLimitInterval: z.enum(spendLimitIntervals).nullable(),
  spendLimitScope: z.enum(spendLimitScopes).nullable(),
  description: z.string().nullable(),
}

type Context = z.core.$RefinementCtx

function checkRate(
  given: { type: string; amountInCents?: number | null; amountInPercentage?: number | null },
  context: Context,
): void {
  const [needed, other] =
    given.type === 'flat'
      ? (['amountInCents', 'amountInPercentage'] as const)
      : (['amountInPercentage', 'amountInCents'] as const)
  const add = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if (given[needed] == null) add(needed, `a ${given.type} reward needs it`)
  if (given[other] != null) add(other, `a ${given.type} reward does not have it`)
}

const eventEntities: Record<RewardEventName, string[]> = {
  click: ['customer'],
  lead: ['customer', 'partner', 'lead'],
  sale: ['customer', 'partner', 'sale'],
}

export function checkTerms(
  terms: z.infer<z.ZodObject<typeof rewardTerms>> & { event: RewardEventName },
  context: Context,
): void {
  const { event, modifiers = [] } = terms
  const add = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
  checkRate(terms, context)
  for (const [index, each] of [terms, ...modifiers].entries()) {
    const path = index === 0 ? [] : ['modifiers', index - 1]
    if (event === 'sale') continue
    if (each.type !== 'flat') add([...path, 'type'], `a ${event} reward is flat`)
    if (each.maxDuration) add([...path, 'maxDuration'], `a ${event} reward has no duration`)
  }
  for (const [index, { conditions }] of modifiers.entries()) {
    for (const [position, { entity, attribute }] of conditions.entries()) {
      const isKnown = eventEntities[event].includes(entity) && (event !== 'click' || attribute === 'country')
      const path = ['modifiers', index, 'conditions', position, 'attribute']
      if (!isKnown) add(path, `a ${event} reward can't depend on ${entity}.${attribute}`)
    }
  }
  if (event === 'click' && terms.spendLimitScope === 'customer') {
    add(['spendLimitScope'], 'clicks have no customer')
  }
  if (terms.spendLimitAmount == null && (terms.spendLimitInterval ?? terms.spendLimitScope) != null) {
    add(['spendLimitAmount'], 'the interval and scope of a limit need an amount')
  }
}

const judgedCondition = z.strictObject({
  modifier: z.number().describe("Position of the condition's modifier, from 0."),
  entity: z.enum(entities),
  attribute: z.string(),
  operator: z.enum(conditionOperators),
  value: z.union([z.string(), z.number(), z.array(z.union([z.string(), z.number()]))]),
  actual: z
    .union([z.string(), z.number(), z.boolean()])
    .nullable()
    .describe('Value of this event; null when it has none, which makes every condition false.'),
  result: z
    .boolean()
    .nullable()
    .describe('Null for a product of a sale with several, and for a country of clicks: see the lines.'),
})

const judgedLine = z.strictObject({
  productId: z.string().nullable(),
  countries: z.array(z.string()).optional().describe('Countries of the clicks in this line.'),
  amount: z.number().describe('Amount that the percentage applies to.'),
  quantity: z.number(),
  matching: z.array(z.number()).describe('Positions of the modifiers whose conditions are true.'),
  modifier: z.number().nullable().describe('Position of the modifier that applies; null for the base terms.'),
  type: z.enum(rewardTypes),
  rate: z.number().describe('Smallest units of the currency for each, or hundredths of a percent.'),
  maxDuration: z.number().nullable(),
  endsAt: instant.nullable().describe('End of the window of these terms; null for never.'),
  isOpen: z.boolean().describe('Whether the event is within that window.'),
  formula: z.string(),
  earnings: z.number(),
})

/** Why an event earns what it earns: enough to compute it again. */
export const rewardReasoning = z
  .strictObject({
    event: z.strictObject({
      kind: z.enum(rewardEvents),
      at: instant,
      amount: z.number(),
      originalAmount: z.number(),
      commissionableAmount: z.number().nullable().describe('As sent in the metadata; null for the whole amount.'),
      currency: z.string(),
      quantity: z.number(),
      customerId: z.string().nullable(),
      isFirst: z.boolean(),
      partnerStatus: z.string(),
    }),
    reward: z
      .strictObject({
        id: z.string(),
        version: z.number(),
        origin: z
          .enum(['partner', 'group', 'customer'])
          .describe(
            "Where the version comes from: the partner's own reward, its group's, or the customer's first sale.",
          ),
      })
      .nullable(),
    conditions: z.array(judgedCondition),
    lines: z.array(judgedLine),
    rounding: z.literal('half_up'),
    window: z
      .strictObject({ firstSaleAt: instant, endsAt: instant.nullable() })
      .nullable()
      .describe('From the first sale of the customer through the partner; null for clicks and leads.'),
    cap: z
      .strictObject({
        amount: z.number(),
        interval: z.enum(spendLimitIntervals),
        scope: z.enum(spendLimitScopes),
        spent: z.number().describe('Earnings counted against the limit before this event.'),
        left: z.number(),
      })
      .nullable(),
    due: z.strictObject({ holdingPeriodDays: z.number(), at: instant }).nullable(),
    earnings: z.number(),
  })
  .meta({ id: 'RewardReasoning' })
export type RewardReasoning = z.infer<typeof rewardReasoning>
