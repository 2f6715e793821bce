import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Check, ChevronDown } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { StepDetails, type StepName } from './step-details.tsx'

const pollMs = 2_000
const names: Record<StepName, MessageDescriptor> = {
  domain: msg`Add your domain`,
  link: msg`Create a link`,
  script: msg`Put the script on your pages`,
  lead: msg`Report a lead`,
  sale: msg`Report a sale`,
}

/** The steps to a first tracked sale, each done as soon as the server has seen it. */
export function Checklist({ onDismiss }: { onDismiss(): void }) {
  const { data: steps = [] } = useOperation('listSetupSteps', {}, { refetchInterval: pollMs })
  const [chosen, setChosen] = useState<StepName | 'none'>()
  const total = steps.length
  const doneCount = steps.filter(({ done }) => done).length
  const isComplete = steps.some(({ step, done }) => step === 'sale' && done)
  const open = chosen ?? steps.find(({ done }) => !done)?.step
  return (
    <Panel>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-3">
        <div className="mr-auto">
          <h2>{isComplete ? <Trans>Your first sale is tracked</Trans> : <Trans>Your first tracked sale</Trans>}</h2>
          <p role="status" className="text-sm text-muted">
            <Plural value={doneCount} one={`# of ${total} steps is done`} other={`# of ${total} steps are done`} />
          </p>
        </div>
        <Button kind={isComplete ? 'first' : 'quiet'} onClick={onDismiss}>
          <Trans>Hide first steps</Trans>
        </Button>
      </header>
      <ol>
        {steps.map(({ step, done }, index) => (
          <Step
            key={step}
            number={index + 1}
            name={names[step]}
            isDone={done}
            isOpen={open === step}
            onToggle={() => setChosen(open === step ? 'none' : step)}
          >
            <StepDetails step={step} isDone={done} />
          </Step>
        ))}
      </ol>
    </Panel>
  )
}

type StepProps = {
  number: number
  name: MessageDescriptor
  isDone: boolean
  isOpen: boolean
  onToggle(): void
  children: ReactNode
}

function Step({ number, name, isDone, isOpen, onToggle, children }: StepProps) {
  const { t } = useLingui()
  const id = useId()
  return (
    <li className="border-b last:border-b-0" data-done={isDone}>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={onToggle}
        className="flex min-h-11 w-full items-center gap-3 rounded-md px-4 text-left hover:bg-hover"
      >
        <span
          aria-hidden
          className={`grid size-5.5 shrink-0 place-items-center rounded-full border text-xs ${isDone ? 'border-transparent bg-good text-surface' : 'border-line-strong text-muted'}`}
        >
          {isDone ? <Check size={14} strokeWidth={2.5} /> : number}
        </span>
        <span className={`flex-1 ${isDone ? 'text-muted' : 'font-medium'}`}>{t(name)}</span>
        <span className="text-xs text-muted">{isDone ? <Trans>Done</Trans> : <Trans>To do</Trans>}</span>
        <ChevronDown size={14} aria-hidden className={`text-faint ${isOpen ? 'rotate-180' : ''}`} />
      </button>
      <div id={id} hidden={!isOpen} className="flex flex-col items-start gap-3 px-4 pb-4 pl-12.5 max-md:pl-4">
        {isOpen && children}
      </div>
    </li>
  )
}
