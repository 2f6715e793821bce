import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Toaster } from '../ui/toast.tsx'
import { ChartParts } from './chart-parts.tsx'
import { ControlParts } from './control-parts.tsx'
import { FilterParts } from './filter-parts.tsx'
import { FormParts } from './form-parts.tsx'
import { OverlayParts } from './overlay-parts.tsx'
import { StateParts } from './state-parts.tsx'
import { TableParts } from './table-parts.tsx'

const sections = [
  { title: 'Controls', description: 'Each kind and size, at rest and disabled.', content: <ControlParts /> },
  { title: 'Forms', description: 'Empty, filled, wrong, disabled.', content: <FormParts /> },
  { title: 'Filters', description: 'None set, several set, more than fit.', content: <FilterParts /> },
  { title: 'Charts', description: 'A month, one day, only zeros, very large values.', content: <ChartParts /> },
  { title: 'States', description: 'Loading, empty, failed, and words for a state.', content: <StateParts /> },
  { title: 'Overlays', description: 'What opens above the page.', content: <OverlayParts /> },
  { title: 'Table', description: '100,000 rows, of which each seventh is not loaded yet.', content: <TableParts /> },
]

/** Every part of the dashboard in every state, with no data of a server. Only development has this page. */
export function PartsPage() {
  return (
    <main className="mx-auto max-w-300 p-4">
      <Page title="Parts">
        {sections.map(({ title, description, content }) => (
          <Section key={title} title={title} description={description}>
            {content}
          </Section>
        ))}
      </Page>
      <Toaster />
    </main>
  )
}
