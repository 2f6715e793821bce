import { createAuthEndpoint } from '@better-auth/core/api'
import { APIError } from '@better-auth/core/error'
import { passkey } from '@better-auth/passkey'
import { betterAuth } from 'better-auth'
import { setSessionCookie } from 'better-auth/cookies'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { z } from 'zod'
import type { Platform } from '../../platform/context.ts'
import { newId, randomText } from '../../platform/ids.ts'
import { authSecrets, cookiePrefix, isHostCookie } from './cookies.ts'
import { deleteExpiredSessions, deleteOldestSessions } from './session-store.ts'
import { selectUser } from './store.ts'

const times = { createdAt: 'created_at', updatedAt: 'updated_at' }
// With a further one, the oldest session of a user ends. The account page lists them all.
const mostSessions = 100
/** The header that passes the client's address to the library; requests can't set it. */
export const addressHeader = 'x-tributary-client'

/** Opens the identity library on our PostgreSQL tables: users, sessions, second factors and passkeys. */
export function openIdentity({ db, config, log }: Pick<Platform, 'db' | 'config' | 'log'>) {
  const { origin } = new URL(config.API_URL)
  return betterAuth({
    appName: 'Tributary',
    baseURL: config.API_URL,
    basePath: '/auth',
    trustedOrigins: [origin],
    secrets: [...authSecrets(config)].map(([version, value]) => ({ version, value })),
    telemetry: { enabled: false },
    // platform/rate-limit counts in Valkey, for all processes together.
    rateLimit: { enabled: false },
    database: { db, type: 'postgres', transaction: true },
    logger: { log: (level, message) => log[level === 'error' ? 'warn' : 'debug']({ source: 'better-auth' }, message) },
    advanced: {
      cookiePrefix: cookiePrefix(config),
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isHostCookie(config), httpOnly: true, sameSite: 'lax', path: '/' },
      // The library would skip both checks in test runs.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: { generateId: ({ model }) => makeId(model) },
    },
    user: { modelName: 'users', fields: { emailVerified: 'email_verified', ...times } },
    session: {
      modelName: 'sessions',
      expiresIn: config.SESSION_DAYS * 86_400,
      // Our pages check `authenticated_at` instead.
      freshAge: 0,
      disableSessionRefresh: true,
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        ...times,
      },
    },
    account: {
      modelName: 'accounts',
      fields: {
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        ...times,
      },
    },
    verification: {
      modelName: 'verifications',
      storeIdentifier: 'hashed',
      fields: { expiresAt: 'expires_at', ...times },
    },
    databaseHooks: {
      session: {
        create: {
          before: async ({ userId }) => {
            await deleteExpiredSessions(db)
            await deleteOldestSessions(db, userId, mostSessions - 1)
            return (await selectUser(db, userId))?.disabled_at === null
          },
        },
      },
    },
    plugins: [provenSignIn, secondFactor(), passkeys(config.API_URL)],
  })
}

export type Identity = ReturnType<typeof openIdentity>

function makeId(model: string): string {
  if (model === 'user') return newId('user')
  return model === 'session' ? newId('ses') : randomText(24)
}

const provenPath = '/sign-in/proven'

/** Signs in a user who has proven who they are, by a password or a one-time link. Not reachable over HTTP. */
const provenSignIn = {
  id: 'proven-sign-in',
  endpoints: {
    signInProven: createAuthEndpoint(
      provenPath,
      { method: 'POST', body: z.object({ userId: z.string() }), metadata: { SERVER_ONLY: true } },
      async (ctx): Promise<{ twoFactorRedirect: boolean }> => {
        const { internalAdapter } = ctx.context
        const user = await internalAdapter.findUserById(ctx.body.userId)
        const session = user && (await internalAdapter.createSession(user.id))
        if (!session) throw new APIError('UNAUTHORIZED')
        await setSessionCookie(ctx, { session, user })
        return { twoFactorRedirect: false }
      },
    ),
  },
} as const

function secondFactor() {
  const plugin = twoFactor({
    issuer: 'Tributary',
    allowPasswordless: true,
    schema: {
      user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
      twoFactor: {
        modelName: 'two_factors',
        fields: {
          userId: 'user_id',
          backupCodes: 'backup_codes',
          failedVerificationCount: 'failed_verification_count',
          lockedUntil: 'locked_until',
        },
      },
    },
  })
  // The library would ask for the second factor only after its own sign-in with a password, not after a link.
  for (const hook of plugin.hooks.after) hook.matcher = ({ path }) => path === provenPath
  return plugin
}

function passkeys(apiUrl: string) {
  const { origin, hostname } = new URL(apiUrl)
  const plugin = passkey({
    rpID: hostname,
    rpName: 'Tributary',
    origin,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    authentication: {
      // A passkey replaces the password and the second factor, so the device must have checked who uses it.
      afterVerification: async ({ verification }) => {
        if (!verification.authenticationInfo.userVerified) throw new APIError('UNAUTHORIZED')
      },
    },
    schema: {
      passkey: {
        modelName: 'passkeys',
        fields: {
          userId: 'user_id',
          publicKey: 'public_key',
          credentialID: 'credential_id',
          deviceType: 'device_type',
          backedUp: 'backed_up',
          createdAt: 'created_at',
        },
      },
    },
  })
  // PostgreSQL returns a bigint, and the library computes with numbers.
  Object.assign(plugin.schema.passkey.fields.counter, { transform: { output: Number } })
  return plugin
}
