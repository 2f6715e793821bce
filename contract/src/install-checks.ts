import { z } from 'zod'
import { instant, plainText } from './common.ts'
import { type BrowserOperation, operation } from './operation.ts'

/** The query parameter that asks the script of a page to report in. */
export const checkParameter = 'trib_check'

const inspectedPage = z
  .strictObject({
    url: z.string().describe('URL of the page after redirects.'),
    status: z.number().int().nullable().describe('HTTP status of the page; null if the server could not read it.'),
    tag: z
      .enum(['found', 'elsewhere', 'missing'])
      .nullable()
      .describe(
        'Whether the HTML has the script tag: `elsewhere` if it reports to another server. A tag manager may add a `missing` tag later. Null if the page could not be read.',
      ),
    scriptUrl: z.string().nullable().describe('URL of the script in the tag.'),
    blockedBy: z
      .enum(['script-src', 'connect-src'])
      .nullable()
      .describe("Directive of the page's content security policy that blocks the script or its reports."),
  })
  .meta({ id: 'InspectedPage' })
export type InspectedPage = z.infer<typeof inspectedPage>

const installReport = z
  .strictObject({
    at: instant,
    host: z.string().describe('Host of the page, without `www.`; empty if the browser did not name it.'),
    path: z.string(),
    version: z.string().describe('Version of the script.'),
    isOff: z
      .boolean()
      .describe('Whether the script does nothing for this visitor, because the browser asks not to be tracked.'),
  })
  .meta({ id: 'InstallReport' })

export const installCheck = z
  .strictObject({
    id: z.string(),
    url: z.string().describe('URL of the page, as you sent it.'),
    checkUrl: z
      .string()
      .describe(
        `The same URL with the parameter \`${checkParameter}\`: open it in a browser, and the script reports in.`,
      ),
    state: z
      .enum(['waiting', 'installed', 'refused', 'expired'])
      .describe(
        '`waiting`: the page has not reported in. `installed`: it has. `refused`: it has, but its host is not one of the allowed hostnames. `expired`: it did not within an hour.',
      ),
    page: inspectedPage.describe('What the server found in the HTML of the page. A hint: only a report is proof.'),
    report: installReport.nullable().describe('The latest report of the script.'),
    createdAt: instant,
  })
  .meta({ id: 'InstallCheck' })
export type InstallCheck = z.infer<typeof installCheck>

const newInstallCheck = z
  .object({ url: plainText(2_000).min(1).describe('URL of a page with the script: http or https.') })
  .meta({ id: 'NewInstallCheck' })

export const createInstallCheck = operation({
  id: 'createInstallCheck',
  method: 'post',
  path: '/install-checks',
  summary: 'Check that a page has the script',
  description:
    'Reads the page, within 5 seconds, and waits an hour for the report of its script. Open `checkUrl` in a browser, then read the check until its state changes. The latest 20 checks of a workspace are stored.',
  tag: 'Setup',
  scope: 'workspaces.read',
  body: newInstallCheck,
  status: 201,
  response: installCheck,
})

export const getInstallCheck = operation({
  id: 'getInstallCheck',
  method: 'get',
  path: '/install-checks/{id}',
  summary: 'Get an install check',
  tag: 'Setup',
  scope: 'workspaces.read',
  params: z.object({ id: z.string().max(100).describe('Id of the check.') }),
  response: installCheck,
})

const newInstallReport = z
  .object({
    check: z.string().max(100).describe(`Value of the parameter \`${checkParameter}\`.`),
    path: z.string().max(2_000).describe('Path of the page.'),
    version: plainText(40).describe('Version of the script.'),
    isOff: z.boolean().default(false).describe('Whether the script does nothing for this visitor.'),
  })
  .meta({ id: 'NewInstallReport' })
export type NewInstallReport = z.output<typeof newInstallReport>

export const reportInstall = {
  kind: 'browser',
  method: 'post',
  id: 'reportInstall',
  path: '/install-checks/reports',
  summary: 'Report that a page has the script',
  description: `Sent by the script of a page whose URL has the parameter \`${checkParameter}\`. The response is always \`{}\`.`,
  tag: 'Setup',
  requestsPerMinute: 60,
  bodyLimit: 8_192,
  bodyValues: 100,
  body: newInstallReport,
  response: z.strictObject({}).meta({ id: 'InstallReported' }),
} as const satisfies BrowserOperation
