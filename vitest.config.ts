import { defineConfig } from 'vitest/config'

const unit = ['server/test/{floors,words}.test.ts', '{.ci,bench,contract,dashboard,demo,tracker}/**/*.test.ts']

/** Load, faults and limits in time: nothing runs beside them. */
const long = [
  'e2e/audit-load.test.ts',
  'e2e/faults/**/*.test.ts',
  'e2e/hostile-{standing,tenant}.test.ts',
  'e2e/redirect-faults.test.ts',
  'e2e/restore.test.ts',
  'server/src/features/auth/{enumeration,flood}.test.ts',
  'server/src/features/*/memory.test.ts',
]
/** Installations of their own whose processes die. They wait more than they work, so that two run at a time. */
const deaths = [
  'e2e/fuzz.test.ts',
  'e2e/kill-*.test.ts',
  'e2e/one-partner.test.ts',
  'e2e/processes.test.ts',
  'server/src/features/*/takeover.test.ts',
]
const dashboard = 'e2e/dashboard/**/*.test.ts'
/** Stories that measure time, so that nothing runs beside them, and nothing has run for an hour before them. */
const timed = 'e2e/dashboard/{events-speed,large-list,paste,speed}.test.ts'
const installed = '**/node_modules/**'
/** The files that a process runs share its modules: importing them again for each file took a third of the time. */
const sharesModules = { isolate: false }

/** `unit` needs nothing; `engines` starts its own; all others share what the global setup starts. */
export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the cores of a small machine: tests wait for engines a quarter of their time.
    maxWorkers: 3,
    projects: [
      { test: { name: 'unit', include: unit, testTimeout: 120_000 } },
      {
        test: {
          name: 'engines',
          include: ['engines/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'server',
          ...sharesModules,
          include: ['server/**/*.test.ts'],
          exclude: [installed, ...unit, ...long, ...deaths],
          globalSetup: 'server/test/global-setup.ts',
          testTimeout: 300_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'dashboard',
          ...sharesModules,
          include: [dashboard],
          exclude: [installed, timed],
          globalSetup: ['server/test/global-setup.ts', 'e2e/dashboard/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Beside the server's tests, which wait less than browsers do.
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'deploy',
          ...sharesModules,
          include: ['deploy/**/*.test.ts'],
          globalSetup: 'server/test/global-setup.ts',
          testTimeout: 120_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'e2e',
          ...sharesModules,
          include: ['e2e/*.test.ts'],
          exclude: [installed, ...long, ...deaths],
          globalSetup: ['server/test/global-setup.ts', 'e2e/dashboard/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'deaths',
          include: deaths,
          globalSetup: 'server/test/global-setup.ts',
          maxWorkers: 2,
          testTimeout: 600_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          name: 'timed',
          include: [timed],
          globalSetup: ['server/test/global-setup.ts', 'e2e/dashboard/global-setup.ts'],
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'long',
          include: long,
          globalSetup: 'server/test/global-setup.ts',
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
})
