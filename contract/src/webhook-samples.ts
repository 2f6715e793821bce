import type { Customer } from './customers.ts'
import type { Link } from './links.ts'
import type { PartnerApplication } from './partner-applications.ts'
import type { Partner } from './partners.ts'
import type { EarningPartner, Trigger, WebhookData, WebhookEvent } from './webhooks.ts'

type Sender = { workspaceId: string; apiUrl: string }

/** Builds a webhook event with sample data, to test a receiver. */
export function sampleEvent(id: string, event: Trigger, now: Date, sender: Sender): WebhookEvent {
  const createdAt = now.toISOString()
  return { id, event, createdAt, data: sampleData(createdAt, sender)[event] } as WebhookEvent
}

function sampleData(at: string, sender: Sender): WebhookData {
  const link = sampleLink(at, sender)
  const click = sampleClick(at, link.url)
  const lead = {
    eventName: 'Sign up',
    customer: sampleCustomer(at),
    click,
    link,
    partner: sampleEarner,
    metadata: null,
  }
  const commission = sampleCommission(at, link)
  const money = { currency: 'usd', paymentProcessor: 'custom' as const, invoiceId: 'INV_123' }
  return {
    'link.created': link,
    'link.updated': link,
    'link.deleted': link,
    'link.clicked': { click, link },
    'lead.created': lead,
    'sale.created': { ...lead, eventName: 'Purchase', sale: { amount: 4_900, ...money } },
    'sale.refunded': { ...lead, eventName: 'Refund', sale: { amount: -4_900, ...money } },
    'partner.enrolled': samplePartner(at),
    'partner.application_submitted': sampleApplication(at),
    'partner.merged': {
      sourcePartner: { id: 'pn_other', tenantId: null, email: 'other@example.com' },
      targetPartner: { id: 'pn_test', tenantId: null, email: 'partner@example.com' },
      targetAlreadyEnrolled: true,
    },
    'partner.updated': samplePartner(at),
    'commission.created': commission,
    'commission.updated': { ...commission, status: 'processed' },
    'discount_code.created': sampleCode,
    'discount_code.deleted': sampleCode,
  }
}

const sampleCode: WebhookData['discount_code.created'] = {
  id: 'dcode_test',
  code: 'TEST',
  partnerId: 'pn_test',
  linkId: 'link_test',
  disabledAt: null,
  discount: { id: 'disc_test', amount: 10, type: 'percentage', maxDuration: null, provider: 'custom' },
}

const profile = {
  id: 'pn_test',
  name: 'Test Partner',
  email: 'partner@example.com',
  image: null,
  description: null,
  country: 'US',
  companyName: null,
  groupId: 'grp_test',
  website: null,
  youtube: null,
  twitter: null,
  linkedin: null,
  instagram: null,
  tiktok: null,
}

const sampleEarner: EarningPartner = {
  id: 'pn_test',
  name: 'Test Partner',
  email: 'partner@example.com',
  image: null,
  payoutsEnabledAt: null,
  country: 'US',
  groupId: 'grp_test',
  totalClicks: 0,
  totalLeads: 0,
  totalConversions: 0,
  totalSales: 0,
  totalSaleAmount: 0,
  totalCommissions: 0,
}

function sampleCommission(at: string, link: Link): WebhookData['commission.created'] {
  const { id, shortLink, domain, key } = link
  return {
    id: 'cm_test',
    type: 'sale',
    amount: 4_900,
    earnings: 490,
    currency: 'usd',
    status: 'pending',
    invoiceId: 'INV_123',
    description: null,
    quantity: 1,
    userId: null,
    metadata: null,
    createdAt: at,
    updatedAt: at,
    partner: sampleEarner,
    customer: sampleCustomer(at),
    link: { id, shortLink, domain, key },
  }
}

function sampleApplication(createdAt: string): PartnerApplication {
  const applicationFormData = [{ label: 'Where will you promote us?', value: 'In my newsletter.' }]
  return { id: 'pga_test', createdAt, partner: { ...profile, status: 'pending' }, applicationFormData }
}

function samplePartner(createdAt: string): Partner {
  return {
    ...profile,
    username: null,
    networkStatus: 'draft',
    defaultPayoutMethod: null,
    paypalEmail: null,
    stripeConnectId: null,
    payoutsEnabledAt: null,
    identityVerifiedAt: null,
    programId: 'prog_test',
    partnerId: 'pn_test',
    tenantId: null,
    createdAt,
    status: 'approved',
    links: [],
    clickRewardId: null,
    leadRewardId: null,
    saleRewardId: null,
    referralRewardId: null,
    discountId: null,
    applicationId: null,
    bannedAt: null,
    bannedReason: null,
    referralFormData: null,
    application: null,
    tags: [],
    totalClicks: 0,
    totalLeads: 0,
    totalConversions: 0,
    totalSales: 0,
    totalSaleAmount: 0,
    totalCommissions: 0,
    netRevenue: 0,
    earningsPerClick: null,
    averageLifetimeValue: null,
    clickToLeadRate: null,
    clickToConversionRate: null,
    leadToConversionRate: null,
    returnOnAdSpend: null,
    trustedAt: null,
  }
}

function sampleClick(timestamp: string, url: string): WebhookData['link.clicked']['click'] {
  return {
    id: 'click_test',
    timestamp,
    url,
    country: 'US',
    city: 'San Francisco',
    region: 'US-CA',
    continent: 'NA',
    device: 'Desktop',
    browser: 'Chrome',
    os: 'macOS',
    trigger: 'link',
    referer: '(direct)',
    refererUrl: '(direct)',
    qr: false,
    ip: '192.0.2.1',
  }
}

function sampleCustomer(createdAt: string): Customer {
  return {
    id: 'cus_test',
    name: 'Test Person',
    email: 'test@example.com',
    avatar: null,
    externalId: 'test',
    stripeCustomerId: null,
    country: 'US',
    sales: 1,
    saleAmount: 4_900,
    createdAt,
    firstSaleAt: createdAt,
    subscriptionCanceledAt: null,
  }
}

function sampleLink(createdAt: string, { workspaceId, apiUrl }: Sender): Link {
  const shortLink = 'https://example.com/test'
  return {
    id: 'link_test',
    domain: 'example.com',
    key: 'test',
    url: 'https://example.com/landing',
    shortLink,
    qrCode: `${apiUrl}/qr?url=${encodeURIComponent(shortLink)}`,
    trackConversion: true,
    archived: false,
    proxy: false,
    rewrite: false,
    doIndex: false,
    publicStats: false,
    tags: [],
    webhookIds: [],
    workspaceId,
    projectId: workspaceId,
    clicks: 1,
    leads: 1,
    conversions: 1,
    sales: 1,
    saleAmount: 4_900,
    createdAt,
    updatedAt: createdAt,
    lastClicked: createdAt,
    expiresAt: '',
    disabledAt: '',
    testStartedAt: '',
    testCompletedAt: '',
    ...nothing,
  }
}

const nothing = {
  externalId: null,
  tenantId: null,
  programId: null,
  partnerId: null,
  expiredUrl: null,
  password: null,
  title: null,
  description: null,
  image: null,
  video: null,
  ios: null,
  android: null,
  geo: null,
  folderId: null,
  comments: null,
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
  userId: null,
  tagId: null,
}
