import { z } from 'zod'
import { instant, listing, plainText } from './common.ts'
import { type BrowserOperation, defaultBody, operation } from './operation.ts'
import { partner, partnerResult, partnerStatuses, profile, rejectionReasons, socials } from './partners.ts'
import { emailAddress, webUrl } from './programs.ts'

const text = z.string().nullable()
const answer = z.strictObject({ label: plainText(200), value: z.string().max(5_000).nullable() })

export const partnerApplication = z
  .strictObject({
    id: z.string(),
    createdAt: instant,
    partner: z.strictObject({
      id: z.string(),
      name: z.string(),
      companyName: text,
      email: text,
      image: text,
      description: text,
      country: text,
      groupId: text,
      status: z.enum(partnerStatuses),
      ...socials,
    }),
    applicationFormData: z.array(answer).nullable(),
  })
  .meta({ id: 'PartnerApplication' })
export type PartnerApplication = z.infer<typeof partnerApplication>

const decides = {
  tag: 'Partner applications',
  method: 'post',
  scope: 'partners.write',
  response: partnerResult,
} as const

export const listPartnerApplications = operation({
  id: 'listPartnerApplications',
  method: 'get',
  path: '/partners/applications',
  summary: 'List applications',
  description: 'Lists pending applications.',
  tag: 'Partner applications',
  scope: 'partners.read',
  query: z.object({
    country: z.string().optional().describe('Country code of two letters.'),
    groupId: z.string().optional().describe('Only applications to this group.'),
    ...listing(100, ['createdAt'], 'desc'),
  }),
  response: z.array(partnerApplication),
})
export type ApplicationsQuery = z.output<typeof listPartnerApplications.query>

export const approvePartnerApplication = operation({
  ...decides,
  id: 'approvePartnerApplication',
  path: '/partners/applications/approve',
  summary: 'Approve an application',
  description:
    'Approves a pending or rejected application. The partner joins the group, gets its default links and earns from now on.',
  body: z
    .object({
      partnerId: z.string().max(255),
      groupId: z.string().max(100).nullish().describe('The group applied to when omitted.'),
    })
    .meta({ id: 'ApplicationApproval' }),
})

export const rejectPartnerApplication = operation({
  ...decides,
  id: 'rejectPartnerApplication',
  path: '/partners/applications/reject',
  summary: 'Reject an application',
  description: 'Rejects a pending application, with a reason and a time after which the person may apply again.',
  body: z
    .object({
      partnerId: z.string().max(255),
      rejectionReason: z.enum(rejectionReasons).optional(),
      rejectionNote: z.string().max(500).optional(),
      reapplicationTimeframe: z
        .enum(['instant', 'standard', 'never'])
        .default('standard')
        .describe('When the partner may apply again: at once, after 30 days, or never.'),
      flagForFraud: z.boolean().optional(),
      flagForFraudReason: z.string().max(2_000).optional().describe('Required with `flagForFraud`.'),
    })
    .meta({ id: 'ApplicationRejection' }),
})
export type ApplicationRejection = z.output<typeof rejectPartnerApplication.body>

const fromPages = { kind: 'browser', method: 'post', tag: 'Partner applications', ...defaultBody } as const
const token = z.string().min(1).max(200)
const outcome = z
  .strictObject({ partnerId: z.string(), status: z.enum(partnerStatuses) })
  .meta({ id: 'PartnerOutcome' })
export type PartnerOutcome = z.infer<typeof outcome>

export const newApplication = z
  .object({
    programId: z.string().max(100),
    groupId: z.string().max(100).optional().describe('The default group when omitted.'),
    email: emailAddress,
    name: plainText(100).min(1),
    ...profile,
    answers: z.array(answer).max(50).optional().describe('Answers to further questions of the form.'),
  })
  .meta({ id: 'NewPartnerApplication' })
export type NewApplication = z.infer<typeof newApplication>

export const applyToProgram = {
  ...fromPages,
  id: 'applyToProgram',
  path: '/partners/applications',
  summary: 'Apply to a program',
  description:
    'Takes an application from a web page. An e-mail with a code confirms the address, and the application counts after `POST /partners/applications/confirm`. An address gets one such e-mail an hour, and three a day. Without SMTP_URL the server cannot send the code: the application then counts at once, and is never approved automatically. The response does not reveal whether the address is known.',
  body: newApplication,
  response: z
    .strictObject({ confirmation: z.enum(['email', 'none']).describe('Whether a code is sent by e-mail.') })
    .meta({ id: 'ApplicationResult' }),
  requestsPerMinute: 3,
} as const satisfies BrowserOperation

export const confirmApplication = {
  ...fromPages,
  id: 'confirmApplication',
  path: '/partners/applications/confirm',
  summary: 'Confirm the address of an application',
  description:
    'Confirms the e-mail address of an applicant with the code of the e-mail. The application counts from now on; a group with `autoApprove` approves it.',
  body: z.object({ token: token.describe('The code of the e-mail.') }).meta({ id: 'ApplicationConfirmation' }),
  response: outcome,
  requestsPerMinute: 20,
  errors: ['invite_expired'],
} as const satisfies BrowserOperation

export const invitePartner = operation({
  id: 'invitePartner',
  method: 'post',
  path: '/partners/invite',
  summary: 'Invite a partner',
  description:
    'Creates an invited partner with the default links of its group and sends an e-mail with a code, which `POST /partners/invites/accept` takes. Inviting an invited or declined partner again sends a new code. An address gets at most three e-mails of a program in a day; the next invite is 429.',
  tag: 'Partners',
  scope: 'partners.write',
  body: z
    .object({
      email: emailAddress,
      name: plainText(100).nullish(),
      tenantId: z.string().min(1).max(255).optional(),
      groupId: z.string().max(100).optional(),
      username: plainText(100).nullish(),
      acceptUrl: webUrl.optional().describe('Your page that takes the code as the query parameter `token`.'),
    })
    .meta({ id: 'PartnerInvite' }),
  status: 201,
  response: z
    .strictObject({ partner, token: z.string().describe('The code, to send it yourself.'), expiresAt: instant })
    .meta({ id: 'InviteResult' }),
})
export type Invite = z.output<typeof invitePartner.body>
export type InviteResult = z.output<typeof invitePartner.response>

export const acceptPartnerInvite = {
  ...fromPages,
  id: 'acceptPartnerInvite',
  path: '/partners/invites/accept',
  summary: 'Accept or decline an invite',
  description:
    'Accepts the invite of the code: the partner is approved. With `accept: false` it is declined. An expired code is 410: invite the partner again.',
  tag: 'Partners',
  body: z
    .object({ token: token.describe('The code of the invite.'), accept: z.boolean().default(true) })
    .meta({ id: 'InviteAnswer' }),
  response: outcome,
  requestsPerMinute: 20,
  errors: ['invite_expired'],
} as const satisfies BrowserOperation
