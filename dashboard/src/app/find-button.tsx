import { Trans } from '@lingui/react/macro'
import { Search } from 'lucide-react'
import { Kbd } from '../ui/kbd.tsx'
import { useAllCommands } from './commands.ts'
import { formatKeys } from './keys.ts'

/** Opens the palette: a field on a wide screen, an icon on a small one. */
export function FindButton() {
  const command = useAllCommands().find(({ id }) => id === 'palette')
  return (
    <button
      type="button"
      onClick={() => command?.run()}
      className="flex items-center gap-2 rounded-md text-sm text-faint hover:border-line-strong max-md:size-11 max-md:justify-center max-md:text-muted md:h-8 md:border md:bg-surface md:px-2"
    >
      <Search size={16} strokeWidth={1.75} className="md:hidden" aria-hidden />
      <span className="flex-1 text-left max-md:sr-only">
        <Trans>Find anything</Trans>
      </span>
      {command?.keys && formatKeys(command.keys).map((press) => <Kbd key={press}>{press}</Kbd>)}
    </button>
  )
}
