import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Toaster } from '../ui/toast.tsx'
import { ChartParts } from './chart-parts.tsx'
import { ControlParts } from './control-parts.tsx'
import { FilterParts } from './filter-parts.tsx'
import { FormParts } from './form-parts.tsx'
import { FunnelParts } from './funnel-parts.tsx'
import { MapParts } from './map-parts.tsx'
import { OverlayParts } from './overlay-parts.tsx'
import { StateParts } from './state-parts.tsx'
import { TableParts } from './table-parts.tsx'

const sections = [
  { title: 'Controls', description: 'Each kind and size, at rest and disabled.', content: <ControlParts /> },
  { title: 'Forms', description: 'Empty, filled, wrong, disabled.', content: <FormParts /> },
  { title: 'Filters', description: 'None set, several set, more than fit.', content: <FilterParts /> },
  {
    title: 'Charts',
    description: 'Lines and bars: compared, with notes, one day, only zeros, very large values.',
    content: <ChartParts />,
  },
  { title: 'Funnels', description: 'From clicks to sales.', content: <FunnelParts /> },
  { title: 'Maps', description: 'Many countries, few, none.', content: <MapParts /> },
  { title: 'States', description: 'Loading, empty, failed, and words for a state.', content: <StateParts /> },
  { title: 'Overlays', description: 'What opens above the page.', content: <OverlayParts /> },
  { title: 'Table', description: '100,000 rows, of which each seventh is not loaded yet.', content: <TableParts /> },
]

/** Every part of the dashboard in every state, with no data of a server, or those of `?section=`. Only development has this page. */
export function PartsPage() {
  const chosen = new URLSearchParams(location.search).get('section')
  const shown = sections.filter(({ title }) => !chosen || title === chosen)
  return (
    <main className="mx-auto max-w-300 p-4">
      <Page title="Parts">
        {shown.map(({ title, description, content }) => (
          <Section key={title} title={title} description={description}>
            {content}
          </Section>
        ))}
      </Page>
      <Toaster />
    </main>
  )
}
