import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { LinkState, LinksSearch } from './search.ts'

export type ChangeSearch = (change: Partial<LinksSearch>) => void
export type FilterName = 'tags' | 'folder' | 'domain' | 'creator' | 'partner' | 'state' | 'created'

export const stateNames: Record<LinkState | 'all', MessageDescriptor> = {
  active: msg`Active`,
  archived: msg`Archived`,
  expired: msg`Expired`,
  disabled: msg`Disabled`,
  password: msg`With a password`,
  test: msg`With an A/B test`,
  all: msg`All, also archived`,
}
