import { ErrorMessage } from '../app/errors.tsx'
import { Button } from '../ui/button.tsx'
import { Message } from '../ui/message.tsx'
import { Notice } from '../ui/notice.tsx'
import { Panel } from '../ui/page.tsx'
import { RowsLoading } from '../ui/rows-loading.tsx'

export function StateParts() {
  return (
    <div className="flex flex-col gap-4">
      <Notice>Somebody changed this while you edited it.</Notice>
      <Notice kind="plain" action={<Button size="small">Try again</Button>}>
        You are offline. What you see is from 12:04.
      </Notice>
      <div className="grid grid-cols-3 gap-4 max-md:grid-cols-1">
        <Panel>
          <RowsLoading />
        </Panel>
        <Panel>
          <Message title="No links yet" action={<Button kind="first">Create link</Button>}>
            <p>A link leads to a page and counts who came.</p>
          </Message>
        </Panel>
        <Panel>
          <ErrorMessage error={new Error('ClickHouse is overloaded. Try again in a minute.')} retry={() => {}} />
        </Panel>
      </div>
    </div>
  )
}
