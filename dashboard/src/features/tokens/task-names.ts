import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Task } from './tasks.ts'

export const taskNames: Record<Task, MessageDescriptor> = {
  links: msg`Create and change links`,
  report: msg`Read analytics and events`,
  convert: msg`Report leads and sales`,
  partners: msg`Manage the partner program`,
  read: msg`Read everything`,
  all: msg`Everything`,
}
