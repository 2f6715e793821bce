import type { ReactNode } from 'react'
import { Message } from './message.tsx'
import { Page, Panel } from './page.tsx'

type Props = { page: ReactNode; title: ReactNode; children: ReactNode }

/** A page that a role or a plan does not include. */
export function Withheld({ page, title, children }: Props) {
  return (
    <Page title={page}>
      <Panel>
        <Message title={title}>
          <p>{children}</p>
        </Message>
      </Panel>
    </Page>
  )
}
