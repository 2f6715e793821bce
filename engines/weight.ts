import { writeFileSync } from 'node:fs'
import type { Engines } from './start.ts'

// The weight of a niceness of 7 is a fifth of the usual one, as `CPUWeight=20`.
const niceness = '7'

/**
 * Gives ClickHouse the share of busy cores that it has in an installation. Each engine has a session of its own, which Linux
 * schedules as a group; without such groups, the share stays.
 */
export function weighAsInstalled({ processes }: Pick<Engines, 'processes'>): void {
  const pid = processes.clickhouse?.pid
  try {
    if (pid !== undefined) writeFileSync(`/proc/${pid}/autogroup`, niceness)
  } catch {
    console.error('ClickHouse keeps the usual share of the cores: this kernel has no autogroups')
  }
}
