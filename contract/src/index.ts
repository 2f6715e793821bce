import { retrieveAnalytics, retrieveAnalyticsBatch, retrieveLinkStats } from './analytics.ts'
import { createCustomer, deleteCustomer, getCustomer, listCustomers, updateCustomer } from './customers.ts'
import { createDiscount, deleteDiscount, getDiscount, listDiscounts, updateDiscount } from './discounts.ts'
import {
  checkDomainStatus,
  createDomain,
  deleteDomain,
  getDomainRecords,
  listDomains,
  registerDomain,
  updateDomain,
} from './domains.ts'
import { exportEvents, listEvents, streamEvents } from './events.ts'
import { createFolder, deleteFolder, listFolders, updateFolder } from './folders.ts'
import { addGroupPartners, createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './groups.ts'
import {
  bulkCreateLinks,
  bulkDeleteLinks,
  bulkUpdateLinks,
  countLinks,
  createLink,
  deleteLink,
  getLink,
  groupLinks,
  listLinks,
  updateLink,
  upsertLink,
} from './links.ts'
import { getMetatags } from './metatags.ts'
import type { Operation } from './operation.ts'
import { createPartnerTag, deletePartnerTag, listPartnerTags, updatePartnerTag } from './partner-tags.ts'
import { createProgram, getProgram, listPrograms, updateProgram } from './programs.ts'
import { changePublicStats, retrievePublicStats } from './public-stats.ts'
import { getQRCode } from './qr.ts'
import { createTag, deleteTag, listTags, updateTag } from './tags.ts'
import { trackCustomer, trackLead, trackRefund, trackSale } from './track.ts'
import { trackClick, trackOpen, trackVisit } from './track-browser.ts'
import {
  createWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
  replayFailed,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from './webhooks.ts'

/** Every operation of the API, each with its own type. */
const all = [
  retrieveAnalytics,
  retrieveAnalyticsBatch,
  retrieveLinkStats,
  listCustomers,
  createCustomer,
  getCustomer,
  updateCustomer,
  deleteCustomer,
  listDomains,
  createDomain,
  checkDomainStatus,
  registerDomain,
  updateDomain,
  deleteDomain,
  getDomainRecords,
  listEvents,
  listFolders,
  createFolder,
  updateFolder,
  deleteFolder,
  createLink,
  listLinks,
  countLinks,
  groupLinks,
  getLink,
  upsertLink,
  bulkCreateLinks,
  bulkUpdateLinks,
  bulkDeleteLinks,
  updateLink,
  deleteLink,
  changePublicStats,
  getMetatags,
  listPrograms,
  createProgram,
  getProgram,
  updateProgram,
  listGroups,
  createGroup,
  getGroup,
  updateGroup,
  deleteGroup,
  addGroupPartners,
  listPartnerTags,
  createPartnerTag,
  updatePartnerTag,
  deletePartnerTag,
  listDiscounts,
  createDiscount,
  getDiscount,
  updateDiscount,
  deleteDiscount,
  listTags,
  createTag,
  updateTag,
  deleteTag,
  trackCustomer,
  trackLead,
  trackSale,
  trackRefund,
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listDeliveries,
  getDelivery,
  replayDelivery,
  replayFailed,
  getQRCode,
  retrievePublicStats,
  streamEvents,
  exportEvents,
  trackClick,
  trackVisit,
  trackOpen,
] as const satisfies Operation[]

export type OperationsById = { [O in (typeof all)[number] as O['id']]: O }

export const operations: readonly Operation[] = all
