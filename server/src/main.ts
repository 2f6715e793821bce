#!/usr/bin/env node
import { runMain } from 'citty'
import { tributary } from './commands/tributary.ts'

await runMain(tributary)

// Everything is closed now. A timer that a library left behind must not keep the process.
setTimeout(() => process.exit(), 1_000).unref()
