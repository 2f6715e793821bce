import { type CommandDef, defineCommand } from 'citty'
import { argumentProblem } from './arguments.ts'

/** The command line `tributary`. Subcommands are imported lazily. */
export const tributary: CommandDef = defineCommand({
  meta: { name: 'tributary', description: 'Link attribution that anyone can run' },
  async setup({ rawArgs }) {
    const problem = await argumentProblem(tributary, rawArgs)
    if (!problem) return
    console.error(problem)
    process.exit(1)
  },
  subCommands: {
    serve: () => import('./serve.ts').then((module) => module.serve),
    migrate: () => import('./migrate.ts').then((module) => module.migrateCommand),
    workspace: () => import('./workspace.ts').then((module) => module.workspace),
    member: () => import('./member.ts').then((module) => module.member),
    invite: () => import('./invite.ts').then((module) => module.invite),
    key: () => import('./key.ts').then((module) => module.key),
    user: () => import('./user.ts').then((module) => module.user),
    domain: () => import('./domain.ts').then((module) => module.domain),
    audit: () => import('./audit.ts').then((module) => module.audit),
    verify: () => import('./verify.ts').then((module) => module.verifyCommand),
    rebuild: () => import('./rebuild.ts').then((module) => module.rebuildCommand),
    backup: () => import('./backup.ts').then((module) => module.backupCommand),
    restore: () => import('./restore.ts').then((module) => module.restoreCommand),
    release: () => import('./release.ts').then((module) => module.release),
    'upgrade-check': () => import('./upgrade-check.ts').then((module) => module.upgradeCheck),
    events: () => import('./events.ts').then((module) => module.events),
    geo: () => import('./geo.ts').then((module) => module.geo),
    rates: () => import('./rates.ts').then((module) => module.rates),
    tracker: () => import('./tracker.ts').then((module) => module.tracker),
    settings: () => import('./settings.ts').then((module) => module.settingsCommand),
    sizing: () => import('./sizing.ts').then((module) => module.sizing),
  },
})
