import { job } from '../../platform/jobs.ts'
import { domainChanged, domainChangedSubject } from '../domains/messages.ts'
import { folderDeleted, folderDeletedSubject } from '../folders/messages.ts'
import { followDomains } from './follow-domains.ts'
import { leaveFolders } from './service.ts'

export const linksJobs = [
  job({ name: 'follow-domains', subject: domainChangedSubject, schema: domainChanged, handle: followDomains }),
  job({ name: 'leave-folders', subject: folderDeletedSubject, schema: folderDeleted, handle: leaveFolders }),
]
