import { defineCommand } from 'citty'
import { readTracker, scriptTag } from '../features/tracker/service.ts'
import { readConfig } from '../platform/config.ts'
import { jsonFlag, print, reportProblems } from './run.ts'

export const tracker = defineCommand({
  meta: { name: 'tracker', description: 'Print the script tag for your pages, with its integrity hash' },
  args: jsonFlag,
  run: ({ args }) =>
    reportProblems(async () => {
      const { API_URL } = readConfig()
      const { script } = await readTracker()
      const tag = scriptTag(API_URL, script)
      print(args.json, { tag, url: `${API_URL}/tracker.${script.hash}.js`, integrity: script.integrity }, tag)
    }),
})
