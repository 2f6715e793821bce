import { lazyPart } from '../../app/lazy-part.ts'

export const LatestEvents = lazyPart(
  ['events', 'analytics'],
  async () => (await import('./latest-events.tsx')).LatestEvents,
)
