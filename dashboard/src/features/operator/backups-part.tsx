import { Trans } from '@lingui/react/macro'
import type { OperatorStatus } from '@tributary/contract/operator'
import { Time, useLocale } from '../../ui/figures.tsx'
import { formatBytes } from '../../ui/format.ts'
import { CheckGroup, CheckRow, Command } from './check-row.tsx'
import { formatDuration } from './duration.ts'
import { localZone } from './local-zone.ts'

type Backups = OperatorStatus['backups']
type Run = NonNullable<Backups['last']>

/** The last backup with its age, a failure since, and the last verification. */
export function BackupsPart({ backups: { state, last, lastFailure, lastVerify } }: Pick<OperatorStatus, 'backups'>) {
  const backupState = lastVerify?.successful === false && !lastFailure && last ? 'good' : state
  return (
    <CheckGroup
      title={<Trans>Backups</Trans>}
      description={<Trans>Those that “tributary backup” made of these databases.</Trans>}
    >
      <CheckRow
        state={backupState}
        name={<Trans>Last backup</Trans>}
        value={last ? <Time at={last.finishedAt} timeZone={localZone} /> : <Trans>never</Trans>}
      >
        {last && <BackupFacts run={last} />}
        {backupState !== 'good' && (
          <p>
            <Trans>
              Make a backup every day, and store it on another machine:{' '}
              <Command>tributary backup s3://bucket/folder</Command>
            </Trans>
          </p>
        )}
      </CheckRow>
      {lastFailure && (
        <CheckRow
          state="waiting"
          name={<Trans>A backup failed since</Trans>}
          value={<Time at={lastFailure.finishedAt} timeZone={localZone} />}
        >
          {lastFailure.problem && <p>{lastFailure.problem}</p>}
        </CheckRow>
      )}
      <VerifyRow run={lastVerify} />
    </CheckGroup>
  )
}

function BackupFacts({ run: { location, bytes, encrypted, startedAt, finishedAt } }: { run: Run }) {
  const locale = useLocale()
  const took = formatDuration((Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000, locale)
  return (
    <>
      <p>
        <bdi>{location}</bdi>
        {bytes !== null && <> · {formatBytes(bytes, locale)}</>} · <Trans>took {took}</Trans>
      </p>
      {encrypted === false && (
        <p>
          <Trans>It is not encrypted and contains personal data. BACKUP_KEY encrypts the next one.</Trans>
        </p>
      )}
    </>
  )
}

function VerifyRow({ run }: { run: Backups['lastVerify'] }) {
  return (
    <CheckRow
      state={!run ? 'none' : run.successful ? 'good' : 'waiting'}
      name={<Trans>Last verification</Trans>}
      value={run ? <Time at={run.finishedAt} timeZone={localZone} /> : <Trans>never</Trans>}
    >
      {run?.successful === false && (
        <p>
          <Trans>
            Counters and stored events differ. <Command>tributary verify</Command> names the differences, and with{' '}
            <Command>--repair</Command> repairs them.
          </Trans>
        </p>
      )}
    </CheckRow>
  )
}
