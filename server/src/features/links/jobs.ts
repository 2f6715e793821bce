import { job } from '../../platform/jobs.ts'
import { domainChanged, domainChangedSubject } from '../domains/messages.ts'
import { followDomains } from './follow-domains.ts'

export const linksJobs = [
  job({ name: 'follow-domains', subject: domainChangedSubject, schema: domainChanged, handle: followDomains }),
]
