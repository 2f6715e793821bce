import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Finding, InstallCheck } from './findings.ts'

/** What the server found, and what to do about it. */
export function FindingText({ finding, page }: { finding: Finding; page: InstallCheck['page'] }): ReactNode {
  const { origin, host } = location
  const { status } = page
  const script = <bdi className="wrap-anywhere">{page.scriptUrl}</bdi>
  switch (finding) {
    case 'unreadable':
      return (
        <Trans>
          The server can’t read the page. That is fine for a page that only you can reach: open it, and the check works
          all the same. Otherwise look for a mistake in the address.
        </Trans>
      )
    case 'status':
      return <Trans>The page answered with status {status}. Check the address, or whether it needs a sign-in.</Trans>
    case 'tagMissing':
      return (
        <Trans>
          The script tag is missing. A tag manager or the page’s own code may add it later; if not, put the tag from
          above into the page.
        </Trans>
      )
    case 'tagElsewhere':
      return (
        <Trans>
          The script tag points to another server: {script}. Replace it with the tag from above, which reports to {host}
          .
        </Trans>
      )
    case 'scriptBlocked':
      return (
        <Trans>
          The script tag is there, but the page’s content security policy blocks the script. Add {origin} to its
          directive script-src.
        </Trans>
      )
    case 'reportBlocked':
      return (
        <Trans>
          The script tag is there, but the page’s content security policy blocks its reports. Add {origin} to its
          directive connect-src.
        </Trans>
      )
    case 'tagFound':
      return <Trans>The script tag is there and leads to this server.</Trans>
  }
}
