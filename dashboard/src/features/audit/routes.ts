import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'
import { parseAuditSearch } from './search.ts'

const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'audit',
  validateSearch: parseAuditSearch,
  component: lazyPage('audit', () => import('./audit-page.tsx'), 'AuditPage'),
})

export const auditRoutes = [auditRoute] as const
