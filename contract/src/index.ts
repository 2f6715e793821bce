import { retrieveAnalytics } from './analytics.ts'
import { listEvents } from './events.ts'
import { createLink, listLinks } from './links.ts'
import type { Operation } from './operation.ts'

export const operations = [createLink, listLinks, listEvents, retrieveAnalytics] as unknown as Operation[]
