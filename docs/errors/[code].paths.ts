import { errorCodes, errorStatuses } from '../../contract/src/operation.ts'
import { meanings } from '../../server/src/features/docs/descriptions.ts'

export default {
  paths: () =>
    errorCodes.map((code) => ({ params: { code, status: errorStatuses[code] }, content: pageContent(code) })),
}

function pageContent(code: (typeof errorCodes)[number]): string {
  const { happens, remedy, messages } = meanings[code]
  const rows = messages.map(([message, advice]) => `| ${message} | ${advice} |`)
  const table = ['| The message says | Then |', '|---|---|', ...rows].join('\n')
  return `## When it happens\n\n${happens}\n\n## What to do\n\n${remedy}\n\n${rows.length > 0 ? table : ''}\n`
}
