import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from './errors.ts'
import { parse } from './validation.ts'

const anyPlan = z.enum(['free', 'pro'])
const amount = z.coerce.number().int().min(1).max(100)
const isRead = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], case: 'sensitive' })
const either = z.union([z.string().max(3), z.array(z.string())])
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('lead') }),
  z.object({ type: z.literal('sale'), cents: z.number() }),
])

describe('malformed, 400', () => {
  test.each<[string, z.ZodType, unknown, string]>([
    ['missing', z.object({ url: z.string() }), {}, '`url` in the body is required.'],
    ['missing number', z.object({ page: amount }), {}, '`page` in the body is required.'],
    ['missing choice', z.object({ plan: anyPlan }), {}, '`plan` in the body is required.'],
    ['missing union', z.object({ tag: either }), {}, '`tag` in the body is required.'],
    ['missing kind', event, {}, '`type` in the body is required.'],
    ['undefined body', z.object({}), undefined, 'The body is required.'],
    ['null body', z.object({}), null, 'The body must be an object, not null.'],
    ['array body', z.object({}), [], 'The body must be an object, not an array.'],
    ['string body', z.object({}), 'x', 'The body must be an object, not "x".'],
    ['number for string', z.object({ url: z.string() }), { url: 5 }, '`url` in the body must be a string, not 5.'],
    ['null for string', z.object({ url: z.string() }), { url: null }, '`url` in the body must be a string, not null.'],
    [
      'object for array',
      z.object({ a: z.array(z.string()) }),
      { a: {} },
      '`a` in the body must be an array, not an object.',
    ],
    ['word for number', z.object({ page: amount }), { page: 'two' }, '`page` in the body must be a number, not "two".'],
    [
      'list for number',
      z.object({ page: amount }),
      { page: ['1', '2'] },
      '`page` in the body must be a number, not an array.',
    ],
    [
      'number for choice',
      z.object({ plan: anyPlan }),
      { plan: 5 },
      '`plan` in the body must be one of `free`, `pro`, not 5.',
    ],
    ['boolean text', z.object({ all: isRead }), { all: 'yes' }, '`all` in the body must be true or false, not "yes".'],
    ['union', z.object({ tag: either }), { tag: 5 }, '`tag` in the body must have one of the allowed forms, not 5.'],
    ['kind of wrong type', event, { type: 5 }, '`type` in the body must be one of `lead`, `sale`, not 5.'],
    ['unknown field', z.strictObject({}), { a: 1, b: 2 }, 'The body has unknown fields: a, b.'],
    [
      'nested',
      z.object({ a: z.object({ b: z.string() }) }),
      { a: { b: true } },
      '`a.b` in the body must be a string, not true.',
    ],
    [
      'below null',
      z.object({ a: z.object({ b: z.string() }) }),
      { a: null },
      '`a` in the body must be an object, not null.',
    ],
    [
      'array index',
      z.object({ tags: z.array(z.object({ name: z.string() })) }),
      { tags: [{ name: 'a' }, { name: 2 }] },
      '`tags[1].name` in the body must be a string, not 2.',
    ],
    [
      'several, one of them malformed',
      z.object({ plan: anyPlan, url: z.string() }),
      { plan: 'gold' },
      '`plan` in the body must be one of `free`, `pro`, not "gold". `url` in the body is required.',
    ],
  ])('%s', (_name, schema, value, message) => {
    expect(refusal(schema, value)).toEqual({ status: 400, code: 'bad_request', message })
  })
})

describe('not allowed, 422', () => {
  const short = z.object({ name: z.string().min(2).max(5) })
  test.each<[string, z.ZodType, unknown, string]>([
    ['too small', z.object({ page: amount }), { page: '0' }, '`page` in the body must be at least 1, not 0.'],
    ['too big', z.object({ page: amount }), { page: '101' }, '`page` in the body must be at most 100, not 101.'],
    [
      'beyond all whole numbers',
      z.object({ n: z.coerce.number().int() }),
      { n: '1e300' },
      '`n` in the body must be at most 9007199254740991, not 1e300.',
    ],
    ['not whole', z.object({ page: amount }), { page: '1.5' }, '`page` in the body must be a whole number.'],
    [
      'not in the list',
      z.object({ plan: anyPlan }),
      { plan: 'gold' },
      '`plan` in the body must be one of `free`, `pro`, not "gold".',
    ],
    ['no such kind', event, { type: 'click' }, '`type` in the body must be one of `lead`, `sale`, not "click".'],
    ['too long', short, { name: '123456' }, '`name` in the body must be at most 5 characters long, not 6.'],
    ['too short', short, { name: '1' }, '`name` in the body must be at least 2 characters long, not 1.'],
    [
      'empty',
      z.object({ id: z.string().min(1) }),
      { id: '' },
      '`id` in the body must be at least 1 character long, not 0.',
    ],
    [
      'not that long',
      z.object({ id: z.string().length(2) }),
      { id: 'a' },
      '`id` in the body must be exactly 2 characters long, not 1.',
    ],
    [
      'too many',
      z.object({ a: z.array(z.string()).max(1) }),
      { a: ['x', 'y'] },
      '`a` in the body must be at most 1 item long, not 2.',
    ],
    [
      'union',
      z.object({ tag: either }),
      { tag: 'long' },
      '`tag` in the body must be at most 3 characters long, not 4.',
    ],
    ['no URL', z.object({ url: z.url() }), { url: 'x' }, '`url` in the body must be an absolute URL.'],
    [
      'no date and time',
      z.object({ since: z.iso.datetime() }),
      { since: 'yesterday' },
      '`since` in the body must be a date and time such as 2030-01-31T12:00:00Z.',
    ],
    ['no e-mail address', z.object({ to: z.email() }), { to: 'x' }, '`to` in the body must be a valid email.'],
    ['another form', z.object({ key: z.string().regex(/^a/) }), { key: 'x' }, '`key` in the body must match /^a/.'],
    [
      'own rule',
      z.object({ key: z.string().refine(() => false, 'no') }),
      { key: 'x' },
      '`key` in the body is not allowed: no.',
    ],
    [
      'NUL',
      z.object({ tags: z.array(z.string()) }),
      { tags: ['a', 'b\0'] },
      '`tags[1]` in the body must not contain the character U+0000 or half of a surrogate pair.',
    ],
    [
      'NUL in a name',
      z.object({ geo: z.record(z.string(), z.string()) }),
      { geo: { 'a\0': 'x' } },
      '`geo` in the body must not contain the character U+0000 or half of a surrogate pair.',
    ],
  ])('%s', (_name, schema, value, message) => {
    expect(refusal(schema, value)).toEqual({ status: 422, code: 'unprocessable_entity', message })
  })
})

test('the message names the part of the request', () => {
  expect(refusal(z.object({ page: amount }), {}, 'query')?.message).toBe('`page` in the query is required.')
  expect(refusal(z.object({ id: z.string() }), {}, 'path')?.message).toBe('`id` in the path is required.')
})

test('a repeated query parameter is reported as such, unless it takes a list', () => {
  const twice = ['1', '2']
  const message = (name: string) => `\`${name}\` in the query is given more than once. Send it once.`
  expect(refusal(z.object({ page: amount }), { page: twice }, 'query')).toMatchObject({
    status: 400,
    message: message('page'),
  })
  expect(refusal(z.object({ plan: anyPlan }), { plan: twice }, 'query')?.message).toBe(message('plan'))
  expect(refusal(z.object({ all: isRead }), { all: twice }, 'query')?.message).toBe(message('all'))
  expect(refusal(z.object({ tag: either }), { tag: twice }, 'query')).toBeUndefined()
})

test('a long value is truncated in the message, and at most five problems are reported', () => {
  const long = refusal(z.object({ plan: anyPlan }), { plan: 'x'.repeat(5_000) })?.message
  expect(long).toBe(`\`plan\` in the body must be one of \`free\`, \`pro\`, not "${'x'.repeat(40)}…".`)
  const many = z.object(Object.fromEntries([...'abcdefgh'].map((name) => [name, z.string()])))
  expect(refusal(many, {})?.message.match(/is required\./g)).toHaveLength(5)
})

test('valid input is returned as parsed by the schema', () => {
  const schema = z.object({ page: amount.default(1), all: isRead, plan: anyPlan.optional() })
  expect(parse(schema, { all: 'false', other: 1 }, 'query')).toEqual({ page: 1, all: false })
  expect(parse(event, { type: 'sale', cents: 5 }, 'body')).toEqual({ type: 'sale', cents: 5 })
})

function refusal(schema: z.ZodType, value: unknown, part: Parameters<typeof parse>[2] = 'body') {
  try {
    parse(schema, value, part)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { status: error.status, code: error.code, message: error.message }
  }
  return undefined
}
