import * as contract from '@tributary/contract/install-checks'
import type { Platform } from '../../platform/context.ts'
import { type Route, route } from '../../platform/http.ts'
import { createInstallCheck, getInstallCheck, reportInstall } from './service.ts'

export function installChecksRoutes(platform: Platform): Route[] {
  return [
    route(contract.createInstallCheck, (ctx, { body }) => createInstallCheck(ctx, body.url)),
    route(contract.getInstallCheck, (ctx, { params }) => getInstallCheck(ctx, params.id)),
    route(contract.reportInstall, async ({ page }, { body }) => {
      await reportInstall(platform, page, body)
      return {}
    }),
  ]
}
