import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { ChevronDown } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Menu, MenuChoice, MenuChoices, MenuContent, MenuTrigger } from '../../ui/menu.tsx'
import { type Period, periods } from './search.ts'

const names: Record<Period, MessageDescriptor> = {
  '24h': msg`Last 24 hours`,
  '7d': msg`Last 7 days`,
  '30d': msg`Last 30 days`,
  '90d': msg`Last 90 days`,
  '1y': msg`Last year`,
  all: msg`All time`,
}

type Props = { period: Period; onChange(period: Period): void; isOpen: boolean; onToggle(isOpen: boolean): void }

/** The period whose clicks, leads and sales the list shows. */
export function PeriodMenu({ period, onChange, isOpen, onToggle }: Props) {
  const { t } = useLingui()
  return (
    <Menu open={isOpen} onOpenChange={onToggle}>
      <MenuTrigger asChild>
        <Button>
          {t(names[period])}
          <ChevronDown size={14} aria-hidden />
          <Kbd>P</Kbd>
        </Button>
      </MenuTrigger>
      <MenuContent align="end">
        <MenuChoices value={period} onValueChange={(value) => onChange(value as Period)}>
          {periods.map((one) => (
            <MenuChoice key={one} value={one}>
              {t(names[one])}
            </MenuChoice>
          ))}
        </MenuChoices>
      </MenuContent>
    </Menu>
  )
}
