/** What a permitted caller gets for a request with unknown ids and an empty body, by status. */
const operationsByStatus = {
  200: `
    retrieveAnalytics retrieveVisitorsNow getCustomers listDomains listEvents listFolders getLinks getLinksCount listPrograms
    listPartnerGroups listPartnerTags listDiscounts listDiscountCodes listPartners listPartnerApplications
    listRewards listCommissions listPostings getLedgerBalances exportLedger getTags listTokens listWebhooks
    listWorkspaces getWorkspace updateWorkspace getWorkspaceUsage listMembers listInvites streamEvents
    exportEvents listAuditLog exportAuditLog listUtmTemplates getPreferences updatePreferences listViews listNotes
    getWorkspaceQrDesign setWorkspaceQrDesign deleteWorkspaceQrDesign listDeletedLinks listBulkOperations
    listSetupSteps getSampleData getUser getCustomersCount listShares
    listNotifications getNotificationSettings updateNotificationSettings`,
  202: `
    createSampleData deleteSampleData`,
  400: `
    retrieveAnalyticsBatch retrieveLinkStats createCustomer createDomain checkDomainStatus registerDomain
    createFolder createLink getLinkGroups upsertLink bulkCreateLinks bulkUpdateLinks bulkDeleteLinks
    getMetatags createProgram createPartnerGroup addPartnersToGroup createPartnerTag createDiscount
    createDiscountCode createPartner banPartner mergePartners bulkPartners invitePartner upsertPartnerLink
    approvePartnerApplication rejectPartnerApplication createReward simulateReward createCommission
    bulkUpdateCommissions createTag createToken trackCustomer trackLead trackSale trackRefund createWebhook
    replayFailedWebhookDeliveries createWorkspace deleteWorkspace transferWorkspace createInvites acceptInvite
    unbanPartner deactivatePartner reactivatePartner archivePartner createPartnerLink retrievePartnerLinks
    retrievePartnerAnalytics explainEvent createUtmTemplate createView createNote checkSlug createBulkOperation
    checkQrDesign getPreviewImage checkLinks createInstallCheck`,
  404: `
    getCustomer updateCustomer deleteCustomer updateDomain deleteDomain getDomainRecords updateFolder
    deleteFolder updateLink deleteLink getProgram updateProgram getPartnerGroup updatePartnerGroup
    deletePartnerGroup updatePartnerTag deletePartnerTag getDiscount updateDiscount deleteDiscount
    deleteDiscountCode getPartner updatePartner getReward updateReward deleteReward listRewardVersions
    getCommission explainCommission updateCommission updateTag deleteTag getToken updateToken rotateToken
    revokeToken getWebhook updateWebhook deleteWebhook rotateWebhookSecret testWebhook listWebhookDeliveries
    getWebhookDelivery replayWebhookDelivery getWorkspaceDeletion leaveWorkspace getMember updateMember
    removeMember renewInvite revokeInvite updateUtmTemplate deleteUtmTemplate updateView deleteView updateNote deleteNote getLinkQrDesign
    setLinkQrDesign deleteLinkQrDesign getDomainQrDesign setDomainQrDesign deleteDomainQrDesign restoreLink
    listLinkHistory getBulkOperation cancelBulkOperation undoBulkOperation recheckDomain createDomainSetupPage
    deleteDomainSetupPage getCustomerJourney getCustomerErasure exportCustomer explainAttribution getShare updateShare deleteShare getInstallCheck getOperatorStatus`,
  422: `
    getLinkInfo changePublicStats createShare`,
}

/** Operations that a member with a hidden folder may not call at all. */
export const refusedWithHiddenFolder: ReadonlySet<string> = new Set([
  'listAuditLog',
  'exportAuditLog',
  'exportCustomer',
])

/** What members get who name a folder or its link: the status with the access `none`, and with `read`. */
const namedByStatuses = {
  '404 200': `
    getLinkInfo listLinkHistory getLinkQrDesign`,
  // With the access `none`, these count and list as if the folder did not exist.
  '200 200': `
    retrieveAnalytics retrieveAnalyticsBatch retrieveLinkStats retrieveVisitorsNow listEvents streamEvents exportEvents
    getCustomers getCustomersCount getLinks
    getLinksCount getLinkGroups bulkCreateLinks checkLinks listShares`,
  '404 403': `
    createLink upsertLink updateLink deleteLink updateFolder deleteFolder changePublicStats restoreLink
    createBulkOperation setLinkQrDesign deleteLinkQrDesign createShare`,
  '200 403': `
    bulkUpdateLinks bulkDeleteLinks`,
  '403 403': `
    createDiscountCode createCommission createWebhook updateWebhook`,
}

export const permittedStatuses: Readonly<Record<string, number>> = Object.fromEntries(
  listNames(operationsByStatus).map(([status, name]) => [name, Number(status)]),
)

export const folderStatuses: Readonly<Record<string, { none: number; read: number }>> = Object.fromEntries(
  listNames(namedByStatuses).map(([statuses, name]) => {
    const [none = 0, read = 0] = statuses.split(' ').map(Number)
    return [name, { none, read }]
  }),
)

function listNames(byStatus: Record<string, string>): [status: string, name: string][] {
  return Object.entries(byStatus).flatMap(([status, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name): [string, string] => [status, name]),
  )
}
