import { retrieveAnalytics } from './analytics.ts'
import {
  checkDomainStatus,
  createDomain,
  deleteDomain,
  getDomainRecords,
  listDomains,
  registerDomain,
  updateDomain,
} from './domains.ts'
import { listEvents } from './events.ts'
import { createFolder, deleteFolder, listFolders, updateFolder } from './folders.ts'
import {
  bulkCreateLinks,
  bulkDeleteLinks,
  bulkUpdateLinks,
  countLinks,
  createLink,
  deleteLink,
  getLink,
  listLinks,
  updateLink,
  upsertLink,
} from './links.ts'
import type { OpenOperation, Operation } from './operation.ts'
import { getQRCode } from './qr.ts'
import { createTag, deleteTag, listTags, updateTag } from './tags.ts'

export const operations = [
  retrieveAnalytics,
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
  getLink,
  upsertLink,
  bulkCreateLinks,
  bulkUpdateLinks,
  bulkDeleteLinks,
  updateLink,
  deleteLink,
  listTags,
  createTag,
  updateTag,
  deleteTag,
] as unknown as Operation[]

/** Those that need no key. */
export const openOperations = [getQRCode] as unknown as OpenOperation[]
