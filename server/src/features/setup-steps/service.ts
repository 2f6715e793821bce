import type { SetupStep } from '@tributary/contract/setup-steps'
import type { Ctx } from '../../platform/context.ts'
import { hasVerifiedDomain } from '../domains/service.ts'
import { hasLinks } from '../links/service.ts'
import { findTrackedKinds, hasPageReport } from '../track/service.ts'

/** The way to a first tracked sale. Each step is decided by what is stored. */
export async function listSetupSteps(ctx: Ctx): Promise<SetupStep[]> {
  const [domain, link, script, tracked] = await Promise.all([
    hasVerifiedDomain(ctx),
    hasLinks(ctx),
    hasPageReport(ctx),
    findTrackedKinds(ctx),
  ])
  return [
    { step: 'domain', done: domain },
    { step: 'link', done: link },
    // A lead is reported with the click id that the script stored.
    { step: 'script', done: script || tracked.lead },
    { step: 'lead', done: tracked.lead },
    { step: 'sale', done: tracked.sale },
  ]
}
