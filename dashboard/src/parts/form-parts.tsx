import { useState } from 'react'
import { Choice } from '../ui/choice.tsx'
import { Choices } from '../ui/choices.tsx'
import { Field, TextArea, TextInput } from '../ui/field.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Select } from '../ui/select.tsx'

const options = Array.from({ length: 300 }, (_, index) => ({ value: `v${index}`, name: `Option ${index}` }))

export function FormParts() {
  const [text, setText] = useState('')
  const [value, setValue] = useState('v1')
  const [side, setSide] = useState('left')
  const choices = ['left', 'right'].map((value) => ({ value, name: value }))
  return (
    <div className="grid grid-cols-3 gap-4 max-md:grid-cols-1">
      <Field label="Empty" hint="A hint below the field.">
        <TextInput placeholder="https://example.com" value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <Field label="Wrong" error={`This is wrong, and the reason is long: ${'x'.repeat(80)}`}>
        <TextInput defaultValue="no address" />
      </Field>
      <Field label="Disabled">
        <TextInput disabled value="Only owners change this." />
      </Field>
      <Field label="Several lines">
        <TextArea defaultValue={'One\nTwo'} />
      </Field>
      <Field label="A short list">
        <Select options={options.slice(0, 4)} value={value} onChoose={setValue} />
      </Field>
      <Field label="One of many">
        <Choice label="Search options" options={options} value={value} onChoose={setValue} />
      </Field>
      <Choices label="One of two" choices={choices} value={side} onChange={setSide} hint="Arrow keys choose." />
      <Choices label="Disabled choice" choices={choices} value={side} onChange={setSide} isDisabled />
      <SearchField label="Search parts" value={text} onChange={setText} />
    </div>
  )
}
