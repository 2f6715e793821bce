import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { Count, Money, Time } from '../ui/figures.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { RowActions } from '../ui/row-actions.tsx'
import { State } from '../ui/state.tsx'
import { Tag } from '../ui/tag.tsx'

const kinds = ['first', 'plain', 'quiet', 'harm'] as const
const colors = ['red', 'yellow', 'green', 'blue', 'purple', 'brown', 'gray', 'pink'] as const
const states = ['good', 'waiting', 'harm', 'none'] as const

export function ControlParts() {
  const [isChecked, setChecked] = useState(true)
  return (
    <div className="flex flex-col gap-4 text-sm">
      {(['normal', 'small'] as const).map((size) => (
        <div key={size} className="flex flex-wrap items-center gap-2">
          {kinds.map((kind) => (
            <Button key={kind} kind={kind} size={size}>
              {kind} <Kbd>N</Kbd>
            </Button>
          ))}
          {kinds.map((kind) => (
            <Button key={kind} kind={kind} size={size} disabled>
              {kind}, disabled
            </Button>
          ))}
        </div>
      ))}
      <div className="flex flex-wrap items-center gap-4">
        <Button size="icon" aria-label="Add">
          <Plus size={14} aria-hidden />
        </Button>
        <RowActions labels={{ edit: 'Edit', remove: 'Delete' }} onEdit={() => {}} onRemove={() => {}} />
        <Checkbox aria-label="Ticked or not" checked={isChecked} onCheckedChange={setChecked} />
        <Checkbox aria-label="Some of many" checked="indeterminate" />
        <Checkbox aria-label="Disabled" checked={false} disabled />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {colors.map((color) => (
          <Tag key={color} color={color}>
            {color}
          </Tag>
        ))}
        {states.map((kind) => (
          <State key={kind} kind={kind}>
            {kind}
          </State>
        ))}
      </div>
      <div className="flex flex-wrap items-center gap-4">
        <Count value={0} />
        <Count value={12_840} />
        <Count value={9_007_199_254_740_991} />
        <Money amount={-4_900} currency="EUR" />
        <Money amount={123_456_789} currency="JPY" />
        <Time at={new Date(Date.now() - 3 * 3_600_000).toISOString()} timeZone="Europe/Berlin" />
        <Time at="2019-02-03T04:05:06Z" timeZone="Europe/Berlin" />
      </div>
      <CodeBlock
        label="An example"
        code={`curl https://go.example.com/links \\\n  --data '{"url":"${'x'.repeat(200)}"}'`}
      />
    </div>
  )
}
