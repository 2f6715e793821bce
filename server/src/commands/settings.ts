import { readFileSync, writeFileSync } from 'node:fs'
import { defineCommand } from 'citty'
import { settings } from '../platform/settings.ts'

type Setting = { default?: string; description: string; secret?: true }

const root = new URL('../../../', import.meta.url)
const files = {
  '.env.example': envExample,
  'docs/guides/configuration.md': configurationPage,
}

export const settingsCommand = defineCommand({
  meta: { name: 'settings', description: 'Print every setting with its default and description' },
  args: {
    write: { type: 'boolean', description: 'Write .env.example and the docs page instead', default: false },
    check: { type: 'boolean', description: 'Fail when .env.example or the docs page is stale', default: false },
  },
  run({ args }) {
    if (!args.write && !args.check) return console.log(envExample())
    for (const [name, text] of Object.entries(files)) {
      const file = new URL(name, root)
      if (args.write) writeFileSync(file, text())
      else if (readFileSync(file, 'utf8') !== text()) {
        console.error(`${name} is stale. Run: npm run settings`)
        process.exitCode = 1
      }
    }
  },
})

function envExample(): string {
  const lines = list().map(([name, { default: defaultValue, description }]) => {
    const example = defaultValue === undefined ? `${name}=${examples[name] ?? ''}` : `# ${name}=${defaultValue}`
    return `# ${description}\n${example}\n`
  })
  return `# Every setting of Tributary. Settings without a # before the name have no default and must be set.\n\n${lines.join('\n')}`
}

function configurationPage(): string {
  const rows = list().map(([name, { default: defaultValue, description }]) => {
    const shown = defaultValue === undefined ? 'must be set' : defaultValue === '' ? 'not set' : `\`${defaultValue}\``
    return `| \`${name}\` | ${shown} | ${description} |`
  })
  return `# Configuration

Tributary reads its settings from the environment. It does not start with an invalid value, and names the setting and the
problem. It logs the effective settings at startup, with secrets masked.

| Setting | Default | Description |
| --- | --- | --- |
${rows.join('\n')}
`
}

// Example values. CLICK_ID_KEYS has none, because somebody would copy a published secret.
const examples: Record<string, string> = {
  POSTGRES_URL: 'postgres://tributary:password@127.0.0.1:5432/tributary',
  NATS_URL: 'nats://127.0.0.1:4222',
  CLICKHOUSE_URL: 'http://default:password@127.0.0.1:8123/default',
  VALKEY_URL: 'redis://127.0.0.1:6379',
}

function list(): [string, Setting][] {
  return Object.entries(settings as Record<string, Setting>)
}
