import { Trans } from '@lingui/react/macro'
import type { OperatorStatus } from '@tributary/contract/operator'
import { Time, useLocale } from '../../ui/figures.tsx'
import { formatNumber } from '../../ui/format.ts'
import { CheckGroup, CheckRow, Command } from './check-row.tsx'
import { localZone } from './local-zone.ts'

type Engine = OperatorStatus['engines'][number]

const engineNames: Record<Engine['name'], string> = {
  postgres: 'PostgreSQL',
  nats: 'NATS',
  clickhouse: 'ClickHouse',
  valkey: 'Valkey',
}

export function EnginesPart({ engines }: Pick<OperatorStatus, 'engines'>) {
  return (
    <CheckGroup title={<Trans>Engines</Trans>} description={<Trans>As the API reaches them now.</Trans>}>
      {engines.map((engine) => (
        <EngineRow key={engine.name} engine={engine} />
      ))}
    </CheckGroup>
  )
}

function EngineRow({ engine: { name, state, answers, milliseconds, version, problem } }: { engine: Engine }) {
  const locale = useLocale()
  const label = engineNames[name]
  return (
    <CheckRow
      state={state}
      name={label}
      value={
        answers && (
          <>
            {formatNumber(milliseconds, locale)} ms{version !== null && <>, {version}</>}
          </>
        )
      }
    >
      {answers && problem !== null && <p>{problem}</p>}
      {!answers && (
        <>
          <p>
            {name === 'valkey' ? (
              <Trans>
                Rate limits and caches work in each process alone. Check that Valkey runs and VALKEY_URL is right.
              </Trans>
            ) : (
              <Trans>{label} does not answer. Check that it runs, and the network and disk of its server.</Trans>
            )}
          </p>
          <p className="font-mono text-xs">{problem}</p>
        </>
      )}
    </CheckRow>
  )
}

type RoleName = OperatorStatus['roles'][number]['role']

export function ProcessesPart({ roles }: Pick<OperatorStatus, 'roles'>) {
  return (
    <CheckGroup
      title={<Trans>Processes</Trans>}
      description={<Trans>Each reports every 15 seconds; one that stopped is shown for an hour.</Trans>}
    >
      {roles.map((role) => (
        <RoleRow key={role.role} role={role} />
      ))}
    </CheckGroup>
  )
}

function RoleRow({ role: { role, state, processes } }: { role: OperatorStatus['roles'][number] }) {
  const up = processes.filter((process) => process.up)
  const versions = [...new Set(up.map(({ version }) => version))].join(', ')
  return (
    <CheckRow
      state={state}
      name={role}
      value={
        up.length === 0 ? undefined : (
          <Trans>
            {up.length} up, version {versions}
          </Trans>
        )
      }
    >
      {state === 'harm' && (
        <p>
          <RoleAdvice role={role} />
        </p>
      )}
      {state === 'waiting' && (
        <p>
          <Trans>
            Processes of several versions run. That is fine during an upgrade; then restart those of the old one.
          </Trans>
        </p>
      )}
      {processes.map((process) => (
        <p key={`${process.host} ${process.startedAt}`}>
          <bdi>{process.host}</bdi>
          {': '}
          {process.up ? (
            <Trans>
              up, started <Time at={process.startedAt} timeZone={localZone} />
            </Trans>
          ) : (
            <Trans>
              silent, last seen <Time at={process.seenAt} timeZone={localZone} />
            </Trans>
          )}
        </p>
      ))}
    </CheckRow>
  )
}

function RoleAdvice({ role }: { role: RoleName }) {
  const logs = <Command>docker compose logs server</Command>
  if (role === 'redirect')
    return (
      <Trans>No redirect process reports, so short links may fail. Start it; its log says why it ended: {logs}</Trans>
    )
  if (role === 'worker')
    return (
      <Trans>
        No worker reports. Clicks stay in the event log and show up when one runs; webhooks and e-mails wait. Its log
        says why it ended: {logs}
      </Trans>
    )
  return <Trans>No API process reports, though one answers now. Look whether it reaches PostgreSQL: {logs}</Trans>
}
