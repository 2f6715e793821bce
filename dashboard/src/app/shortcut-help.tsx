import { Trans, useLingui } from '@lingui/react/macro'
import { Dialog, DialogContent } from '../ui/dialog.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { type Command, useAllCommands } from './commands.ts'
import { formatKeys } from './keys.ts'

/** Lists every shortcut of the page that is open. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const commands = useAllCommands().filter(({ keys }) => keys)
  const groups = Map.groupBy(commands, ({ group }) => group ?? t`Everywhere`)
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent title={<Trans>Keyboard shortcuts</Trans>}>
        <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
          {[...groups].map(([name, members]) => (
            <section key={name}>
              <h3 className="mb-1 text-xs font-medium text-faint">{name}</h3>
              <dl>
                {members.map((command) => (
                  <Row key={command.id} {...command} />
                ))}
              </dl>
            </section>
          ))}
        </div>
      </DialogContent>
    </Dialog>
  )
}

function Row({ name, keys = '' }: Command) {
  return (
    <div className="flex min-h-8 items-center justify-between gap-4 border-b border-line/60 text-sm last:border-0">
      <dt>{name}</dt>
      <dd className="flex gap-1">
        {formatKeys(keys).map((press) => (
          <Kbd key={press} isAlwaysShown>
            {press}
          </Kbd>
        ))}
      </dd>
    </div>
  )
}
