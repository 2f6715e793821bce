import { Trans, useLingui } from '@lingui/react/macro'
import { ChevronDown } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Menu, MenuChoice, MenuChoices, MenuContent, MenuLabel, MenuLine, MenuTrigger } from '../../ui/menu.tsx'
import type { AnalyticsSearch, ChangeAnalytics } from './analytics-search.ts'
import type { RowOrder } from './compare-rows.ts'
import type { Comparison } from './periods.ts'

type Props = { search: AnalyticsSearch; change: ChangeAnalytics; isOpen: boolean; onToggle(isOpen: boolean): void }

/** What the figures are compared with, and whether cards list what is highest or what changed most. */
export function CompareMenu({ search, change, isOpen, onToggle }: Props) {
  const { t } = useLingui()
  const { compare, order = 'highest' } = search
  const names = { previous: t`vs. period before`, year: t`vs. year before` }
  const choose = (value: string) => {
    const next = value === 'none' ? undefined : (value as Comparison)
    change({ compare: next, ...(!next && { order: undefined }) })
  }
  return (
    <Menu open={isOpen} onOpenChange={onToggle}>
      <MenuTrigger asChild>
        <Button>
          {compare ? names[compare] : <Trans>Compare</Trans>}
          <ChevronDown size={14} aria-hidden />
          <Kbd>V</Kbd>
        </Button>
      </MenuTrigger>
      <MenuContent align="end">
        <MenuChoices value={compare ?? 'none'} onValueChange={choose}>
          <MenuChoice value="none">
            <Trans>No comparison</Trans>
          </MenuChoice>
          <MenuChoice value="previous">
            <Trans>The period before</Trans>
          </MenuChoice>
          <MenuChoice value="year">
            <Trans>The same days a year before</Trans>
          </MenuChoice>
        </MenuChoices>
        <MenuLine />
        <MenuLabel>
          <Trans>Rows of cards</Trans>
        </MenuLabel>
        <MenuChoices
          value={order}
          onValueChange={(value) =>
            change({
              order: value === 'highest' ? undefined : (value as RowOrder),
              ...(value !== 'highest' && !compare && { compare: 'previous' as const }),
            })
          }
        >
          <MenuChoice value="highest">
            <Trans>Highest first</Trans>
          </MenuChoice>
          <MenuChoice value="fell">
            <Trans>What fell most</Trans>
          </MenuChoice>
          <MenuChoice value="rose">
            <Trans>What rose most</Trans>
          </MenuChoice>
        </MenuChoices>
      </MenuContent>
    </Menu>
  )
}
