import { job } from '../../platform/jobs.ts'
import { folderDeleted, folderDeletedSubject } from '../folders/messages.ts'
import { linkChanged, linkChangedSubject } from '../links/messages.ts'
import { tagDeleted, tagDeletedSubject } from '../tags/messages.ts'
import { forgetFolders, forgetTags } from './forget.ts'
import { keepLinkAttributes } from './service.ts'

// Link attributes are inserted rarely, because ClickHouse has to merge a part per insert.
const attributesIntervalMs = 1_000

export const eventStorageJobs = [
  job({
    name: 'keep-link-attributes',
    intervalMs: attributesIntervalMs,
    subject: linkChangedSubject,
    schema: linkChanged,
    handle: keepLinkAttributes,
  }),
  job({ name: 'forget-tags', subject: tagDeletedSubject, schema: tagDeleted, handle: forgetTags }),
  job({ name: 'forget-folders', subject: folderDeletedSubject, schema: folderDeleted, handle: forgetFolders }),
]
