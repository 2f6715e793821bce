import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { type Metrics, openMetrics } from '../src/platform/metrics.ts'

/** Opens the metrics of the platform and of every feature. */
export async function openAllMetrics(): Promise<Metrics> {
  const metrics = openMetrics()
  const features = join(import.meta.dirname, '../src/features')
  for await (const file of glob('*/metrics.ts', { cwd: features })) {
    const declared: Record<string, (platform: { metrics: Metrics }) => unknown> = await import(join(features, file))
    for (const open of Object.values(declared)) open({ metrics })
  }
  return metrics
}
