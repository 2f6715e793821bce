#!/usr/bin/env node
import { runMain } from 'citty'
import { tributary } from './commands/tributary.ts'

await runMain(tributary)
