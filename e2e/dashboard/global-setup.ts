import { buildDashboard } from '../../demo/dashboard.ts'

/** Builds the dashboard once, when it is stale, before several browsers open it. */
export const setup = buildDashboard
