import { z } from 'zod'
import { booleanDefault, instant, listing, plainText } from './common.ts'
import { operation } from './operation.ts'
import { scopes } from './permissions.ts'
import { label } from './tags.ts'

export const tokenKinds = ['personal', 'machine', 'publishable'] as const
export type TokenKind = (typeof tokenKinds)[number]

const scope = z.enum(scopes)

export const token = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    kind: z
      .enum(tokenKinds)
      .describe(
        'A `personal` key belongs to a member and ends with the membership. A `machine` key belongs to the workspace. A `publishable` key is public, for web pages.',
      ),
    prefix: z.string().describe('First characters of the key.'),
    lastFour: z.string().describe('Last four characters of the key.'),
    scopes: z
      .array(scope)
      .describe("A personal key may do only what these scopes and its owner's role both allow at that moment."),
    allowedHostnames: z
      .array(z.string())
      .nullable()
      .describe("Hostnames whose pages may use a publishable key; null for the workspace's allowed hostnames."),
    userId: z.string().nullable().describe('Owner of a personal key.'),
    createdBy: z.string().nullable().describe('Id of the user or key that created the key; null if unknown.'),
    lastUsedAt: instant.nullable().describe('Time of the last use, exact to a minute.'),
    lastUsedFrom: z
      .string()
      .nullable()
      .describe('Network of the last use, such as `203.0.113.0/24`; null if the workspace stores no IP addresses.'),
    expiresAt: instant.nullable(),
    revokedAt: instant.nullable(),
    replacedBy: z.string().nullable().describe('Id of the key that replaced this one when it was rotated.'),
    createdAt: instant,
  })
  .meta({ id: 'Token' })
export type Token = z.infer<typeof token>

export const tokenWithKey = token
  .extend({
    key: z
      .string()
      .describe("The key itself. It is shown only once: the server stores its hash and can't show it again."),
  })
  .meta({ id: 'TokenWithKey' })
export type TokenWithKey = z.infer<typeof tokenWithKey>

const name = label(100).describe('Name of the key, such as its purpose.')
const someScopes = z.array(scope).min(1).max(scopes.length)
const expiry = z.iso
  .datetime({ offset: true })
  .nullable()
  .describe('Time from which the key no longer works, at most ten years from now; null for no expiry.')
const hostnames = z
  .array(plainText(253).min(1))
  .min(1)
  .max(10)
  .nullable()
  .describe("Only for a publishable key: `example.com` or `*.example.com`; null for the workspace's allowed hostnames.")

export const newToken = z
  .object({
    name,
    kind: z
      .enum(tokenKinds)
      .optional()
      .describe('Default: `personal` for a signed-in user and for a personal key, otherwise `machine`.'),
    scopes: someScopes
      .optional()
      .describe(
        'Scopes of a personal or machine key, which the caller must have. A publishable key always has `conversions.write`.',
      ),
    expiresAt: expiry.optional(),
    allowedHostnames: hostnames.optional(),
  })
  .meta({ id: 'NewToken' })
export type NewToken = z.infer<typeof newToken>

export const tokenPatch = z
  .object({
    name: name.optional(),
    scopes: someScopes.optional().describe('Fewer scopes than the key has. To add a scope, create a new key.'),
    expiresAt: expiry.optional(),
    allowedHostnames: hostnames.optional(),
  })
  .meta({ id: 'TokenPatch' })
export type TokenPatch = z.infer<typeof tokenPatch>

export const mostOverlapHours = 168

const rotation = z
  .object({
    overlapHours: z
      .number()
      .min(0)
      .max(mostOverlapHours)
      .default(24)
      .describe(`Hours for which the old key continues to work, at most ${mostOverlapHours}; 0 revokes it at once.`),
    expiresAt: expiry.optional().describe('Expiry of the new key; that of the old key when omitted.'),
  })
  .meta({ id: 'TokenRotation' })
export type TokenRotation = z.output<typeof rotation>

const params = z.object({ id: z.string().describe('Id of the key.') })
const shared = { tag: 'API keys' } as const

export const listTokens = operation({
  ...shared,
  id: 'listTokens',
  method: 'get',
  path: '/tokens',
  summary: 'List API keys',
  description: 'Owners, admins and machine keys see every key of the workspace; other members see their own.',
  scope: 'tokens.read',
  query: z.object({
    kind: z.enum(tokenKinds).optional().describe('Only keys of this kind.'),
    userId: z.string().optional().describe('Only personal keys of this member.'),
    showInactive: booleanDefault(false).describe('Whether to include revoked and expired keys.'),
    ...listing(50, ['createdAt', 'name', 'lastUsedAt'], 'desc'),
  }),
  response: z.array(token),
})
export type TokensQuery = z.output<typeof listTokens.query>

export const createToken = operation({
  ...shared,
  id: 'createToken',
  method: 'post',
  path: '/tokens',
  summary: 'Create an API key',
  description:
    'Only this response contains the key itself. Owners and admins, and keys with `apis.all`, create machine and publishable keys. You can grant only scopes that you have, and a key can not create one that outlives it.',
  scope: 'tokens.write',
  body: newToken,
  status: 201,
  response: tokenWithKey,
})

export const getToken = operation({
  ...shared,
  id: 'getToken',
  method: 'get',
  path: '/tokens/{id}',
  summary: 'Get an API key',
  scope: 'tokens.read',
  params,
  response: token,
})

export const updateToken = operation({
  ...shared,
  id: 'updateToken',
  method: 'patch',
  path: '/tokens/{id}',
  summary: 'Update an API key',
  description:
    'Renames a key, removes scopes, or changes its expiry or its allowed hostnames. Applies within a second.',
  scope: 'tokens.write',
  params,
  body: tokenPatch,
  response: token,
})

export const rotateToken = operation({
  ...shared,
  id: 'rotateToken',
  method: 'post',
  path: '/tokens/{id}/rotate',
  summary: 'Rotate an API key',
  description:
    'Creates a key with the same name, scopes and hostnames, and lets the old one expire. Only this response contains the new key. Only its owner may rotate a personal key.',
  scope: 'tokens.write',
  params,
  body: rotation.default({ overlapHours: 24 }),
  status: 201,
  response: tokenWithKey,
})

export const revokeToken = operation({
  ...shared,
  id: 'revokeToken',
  method: 'delete',
  path: '/tokens/{id}',
  summary: 'Revoke an API key',
  description: 'The key stops working within a second, on every server.',
  scope: 'tokens.write',
  params,
  response: z.strictObject({ id: z.string() }),
})
