import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Time } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import type { DomainStatus } from './queries.ts'

type Certificate = DomainStatus['certificate']

const kinds: Record<Certificate['status'], StateKind> = {
  valid: 'good',
  invalid: 'harm',
  none: 'waiting',
  unknown: 'none',
}

/** The certificate that visitors get: who issued it, until when it is valid, or what is wrong. */
export function CertificatePanel({ certificate }: { certificate: Certificate }) {
  const { timeZone } = useWorkspaceSettings()
  const { status, issuer, expiresAt, problem } = certificate
  const words: Record<Certificate['status'], ReactNode> = {
    valid: <Trans>Valid</Trans>,
    invalid: <Trans>Refused by browsers</Trans>,
    none: <Trans>None yet</Trans>,
    unknown: <Trans>Not checked yet</Trans>,
  }
  return (
    <Panel className="flex flex-col gap-2 p-4 text-sm">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 className="mr-auto">
          <Trans>Certificate</Trans>
        </h2>
        <State kind={kinds[status]}>{words[status]}</State>
      </div>
      {issuer && (
        <p className="text-muted wrap-anywhere">
          <Trans>
            Issued by <bdi>{issuer}</bdi>
          </Trans>
        </p>
      )}
      {expiresAt && (
        <p className="text-muted">
          <Trans>
            Valid until <Time at={expiresAt} timeZone={timeZone} isDay />. It renews automatically.
          </Trans>
        </p>
      )}
      {problem && <p className="text-muted wrap-anywhere">{problem}</p>}
    </Panel>
  )
}
