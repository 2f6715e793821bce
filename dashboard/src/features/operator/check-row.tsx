import { Trans } from '@lingui/react/macro'
import type { OperatorState } from '@tributary/contract/operator'
import { Children, type ReactNode } from 'react'
import { Panel } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { State } from '../../ui/state.tsx'

type GroupProps = { title: ReactNode; description?: ReactNode; children: ReactNode }

/** A list of things that are checked, under its own heading. */
export function CheckGroup({ title, description, children }: GroupProps) {
  return (
    <Section title={title} description={description}>
      <Panel>
        <ul>{children}</ul>
      </Panel>
    </Section>
  )
}

type RowState = OperatorState | 'none'
type RowProps = { state: RowState; name: ReactNode; value?: ReactNode; children?: ReactNode }

/** One thing that is checked: its state, its value, and what to do when it is not good. `none` is a check that never ran. */
export function CheckRow({ state, name, value, children }: RowProps) {
  const details = Children.toArray(children)
  return (
    <li className="border-b px-3.5 py-2.5 text-sm last:border-b-0">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="flex max-w-full flex-auto">
          <State kind={state}>
            {name}
            <span className="sr-only">
              : <StateName state={state} />
            </span>
          </State>
        </span>
        {value !== undefined && <span className="text-muted tabular-nums wrap-anywhere">{value}</span>}
      </div>
      {details.length > 0 && <div className="mt-1 max-w-180 pl-4 text-muted wrap-anywhere">{details}</div>}
    </li>
  )
}

function StateName({ state }: { state: RowState }) {
  if (state === 'none') return <Trans>not checked yet</Trans>
  if (state === 'good') return <Trans>good</Trans>
  return state === 'waiting' ? <Trans>look at it</Trans> : <Trans>act now</Trans>
}

/** A command to type. */
export function Command({ children }: { children: string }) {
  return <code className="rounded-sm bg-hover px-1 font-mono text-xs text-ink">{children}</code>
}
