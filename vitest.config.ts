import { defineConfig } from 'vitest/config'

const unit = ['server/test/floors.test.ts', '.ci/**/*.test.ts', 'contract/**/*.test.ts']

/** `unit` needs nothing; `engines` starts its own; `server` and `e2e` share what the global setup starts. */
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      { test: { name: 'unit', include: unit } },
      {
        test: {
          name: 'engines',
          include: ['engines/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'server',
          include: ['server/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...unit],
          globalSetup: 'server/test/global-setup.ts',
          testTimeout: 40_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          globalSetup: 'server/test/global-setup.ts',
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
