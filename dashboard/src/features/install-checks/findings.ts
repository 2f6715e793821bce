import type { OperationAnswer } from '@tributary/contract/client'

export type InstallCheck = OperationAnswer<'getInstallCheck'>
export type Finding =
  | 'unreadable'
  | 'status'
  | 'tagMissing'
  | 'tagElsewhere'
  | 'scriptBlocked'
  | 'reportBlocked'
  | 'tagFound'

/** What the server saw in the HTML of the page; a hint as long as the page has not reported in. */
export function findFinding({ status, tag, blockedBy }: InstallCheck['page']): Finding {
  if (status === null) return 'unreadable'
  if (status !== 200) return 'status'
  if (tag === 'missing' || tag === null) return 'tagMissing'
  if (tag === 'elsewhere') return 'tagElsewhere'
  if (blockedBy === null) return 'tagFound'
  return blockedBy === 'script-src' ? 'scriptBlocked' : 'reportBlocked'
}

/** The address as the server takes it: people leave out the scheme. */
export function pageAddress(text: string): string {
  const address = text.trim()
  return address === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`
}
