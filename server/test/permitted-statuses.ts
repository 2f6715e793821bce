/** What a permitted caller gets for a request with unknown ids and an empty body, by status. */
const operationsByStatus = {
  200: `
    retrieveAnalytics getCustomers listDomains listEvents listFolders getLinks getLinksCount listPrograms
    listPartnerGroups listPartnerTags listDiscounts listDiscountCodes listPartners listPartnerApplications
    listRewards listCommissions listPostings getLedgerBalances exportLedger getTags listTokens listWebhooks
    listWorkspaces getWorkspace updateWorkspace getWorkspaceUsage listMembers listInvites streamEvents
    exportEvents listAuditLog exportAuditLog`,
  400: `
    retrieveAnalyticsBatch retrieveLinkStats createCustomer createDomain checkDomainStatus registerDomain
    createFolder createLink getLinkGroups upsertLink bulkCreateLinks bulkUpdateLinks bulkDeleteLinks
    getMetatags createProgram createPartnerGroup addPartnersToGroup createPartnerTag createDiscount
    createDiscountCode createPartner banPartner mergePartners bulkPartners invitePartner upsertPartnerLink
    approvePartnerApplication rejectPartnerApplication createReward simulateReward createCommission
    bulkUpdateCommissions createTag createToken trackCustomer trackLead trackSale trackRefund createWebhook
    replayFailedWebhookDeliveries createWorkspace deleteWorkspace transferWorkspace createInvites acceptInvite
    unbanPartner deactivatePartner reactivatePartner archivePartner createPartnerLink retrievePartnerLinks
    retrievePartnerAnalytics explainEvent`,
  404: `
    getCustomer updateCustomer deleteCustomer updateDomain deleteDomain getDomainRecords updateFolder
    deleteFolder updateLink deleteLink getProgram updateProgram getPartnerGroup updatePartnerGroup
    deletePartnerGroup updatePartnerTag deletePartnerTag getDiscount updateDiscount deleteDiscount
    deleteDiscountCode getPartner updatePartner getReward updateReward deleteReward listRewardVersions
    getCommission explainCommission updateCommission updateTag deleteTag getToken updateToken rotateToken
    revokeToken getWebhook updateWebhook deleteWebhook rotateWebhookSecret testWebhook listWebhookDeliveries
    getWebhookDelivery replayWebhookDelivery getWorkspaceDeletion leaveWorkspace getMember updateMember
    removeMember renewInvite revokeInvite`,
  422: `
    getLinkInfo changePublicStats`,
}

export const permittedStatuses: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(operationsByStatus).flatMap(([status, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, Number(status)]),
  ),
)
