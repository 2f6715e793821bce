import { Plural, Trans } from '@lingui/react/macro'
import type { OperatorStatus } from '@tributary/contract/operator'
import { Time } from '../../ui/figures.tsx'
import { CheckGroup, CheckRow, Command } from './check-row.tsx'
import { localZone } from './local-zone.ts'

/** The running version beside the newest that is known, and the mail server. */
export function VersionPart({ version, mail }: Pick<OperatorStatus, 'version' | 'mail'>) {
  const { state, running, newest, url, source, knownAt, fetches } = version
  return (
    <CheckGroup title={<Trans>Version and e-mail</Trans>}>
      <CheckRow state={state} name={<Trans>Version</Trans>} value={running}>
        {state !== 'good' && (
          <p>
            <Trans>
              {newest} is newer. Read its notes, then run <Command>tributary upgrade-check</Command> with it.
            </Trans>{' '}
            {url && (
              <a href={url} rel="noreferrer" className="text-ink underline">
                <Trans>Release notes</Trans>
              </a>
            )}
          </p>
        )}
        {newest && knownAt ? (
          <p>
            {source === 'operator' ? (
              <Trans>
                The newest known version is {newest}, recorded by an operator <Time at={knownAt} timeZone={localZone} />
                .
              </Trans>
            ) : (
              <Trans>
                The newest known version is {newest}, fetched <Time at={knownAt} timeZone={localZone} />.
              </Trans>
            )}
          </p>
        ) : (
          !fetches && (
            <p>
              <Trans>
                Nothing is fetched, so no newer version is known. Set UPDATE_CHECK_URL, or say what you know:{' '}
                <Command>tributary release known 1.4.0</Command>
              </Trans>
            </p>
          )
        )}
      </CheckRow>
      <CheckRow
        state={mail.state}
        name={<Trans>Mail server</Trans>}
        value={mail.configured ? <Trans>set up</Trans> : <Trans>not set up</Trans>}
      >
        {!mail.configured && (
          <p>
            <Trans>Without SMTP_URL, people get no sign-in links, invites or notifications by e-mail.</Trans>
          </p>
        )}
        {mail.failed > 0 && (
          <p>
            <Plural
              value={mail.failed}
              one="The mail server refused # notification in the last 24 hours. The log has the reason."
              other="The mail server refused # notifications in the last 24 hours. The log has the reasons."
            />
          </p>
        )}
      </CheckRow>
    </CheckGroup>
  )
}
