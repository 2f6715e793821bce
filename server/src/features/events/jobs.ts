import { job } from '../../platform/jobs.ts'
import { linkChanged, linkChangedSubject } from '../links/messages.ts'
import { keepLinkAttributes } from './service.ts'

export const eventsJobs = [
  job({ name: 'keep-link-attributes', subject: linkChangedSubject, schema: linkChanged, handle: keepLinkAttributes }),
]
