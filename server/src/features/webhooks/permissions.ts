import type { Scope } from '@tributary/contract/permissions'
import type { Trigger, WebhookPatch } from '@tributary/contract/webhooks'
import { type Ctx, hasScope } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'

type Reader = Pick<Ctx, 'actor' | 'folderAccess'>

const conversion: Scope[] = ['analytics.read', 'customers.read', 'partners.read']
const commission: Scope[] = ['commissions.read', 'customers.read', 'partners.read']

/** The scopes that read the data of each trigger's events over the API. */
const triggerScopes: Readonly<Record<Trigger, readonly Scope[]>> = {
  'link.created': ['links.read'],
  'link.updated': ['links.read'],
  'link.deleted': ['links.read'],
  'link.clicked': ['analytics.read'],
  'lead.created': conversion,
  'sale.created': conversion,
  'sale.refunded': conversion,
  'partner.enrolled': ['partners.read'],
  'partner.application_submitted': ['partners.read'],
  'partner.merged': ['partners.read'],
  'partner.updated': ['partners.read'],
  'commission.created': commission,
  'commission.updated': commission,
  'discount_code.created': ['partners.read'],
  'discount_code.deleted': ['partners.read'],
}

/** Throws 403 unless the caller may read the events of these triggers, for links of every folder. */
export function requireTriggers(ctx: Reader, triggers: readonly Trigger[]): void {
  const needed = new Set(triggers.flatMap((trigger) => triggerScopes[trigger]))
  const missing = [...needed].filter((scope) => !hasScope(ctx.actor, scope))
  if (missing.length > 0) {
    throw forbidden(
      `This ${ctx.actor.kind} lacks scopes that read the events of the webhook's triggers: ${missing.join(', ')}. Use a key that has them, or choose other triggers.`,
    )
  }
  if (hasHiddenFolders(ctx)) {
    throw forbidden(
      'Webhooks are for callers who may read all folders. Ask an owner of the workspace to write the webhook.',
    )
  }
}

/**
 * Whether a change can send events to another receiver. Renaming and disabling can't; removing a trigger can, together
 * with a later change of the URL, because the events of the trigger that are still to be sent go to the new URL.
 */
export function redirectsEvents({ name, disabled, ...rest }: WebhookPatch): boolean {
  return disabled === false || Object.values(rest).some((value) => value !== undefined)
}

/** Whether the caller may read the stored body of an event. */
export function canReadEvent(ctx: Reader, trigger: Trigger): boolean {
  return triggerScopes[trigger].every((scope) => hasScope(ctx.actor, scope)) && !hasHiddenFolders(ctx)
}

function hasHiddenFolders({ folderAccess }: Reader): boolean {
  return folderAccess !== undefined && folderAccess.hidden.length > 0
}
