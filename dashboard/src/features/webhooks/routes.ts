import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'
import { parseDeliveriesSearch } from './search.ts'

const webhooksRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'webhooks',
  component: lazyPage('webhooks', () => import('./webhooks-page.tsx'), 'WebhooksPage'),
})

const webhookRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'webhooks/$id',
  validateSearch: parseDeliveriesSearch,
  component: lazyPage('webhooks', () => import('./webhook-page.tsx'), 'WebhookPage'),
})

export const webhooksRoutes = [webhooksRoute, webhookRoute] as const
