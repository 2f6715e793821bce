import { useLingui } from '@lingui/react/macro'
import type { Dimension } from './dimensions.ts'
import { dimensionTexts } from './names.ts'

type Props = {
  label: string
  dimensions: readonly Dimension[]
  chosen: Dimension
  onChoose(dimension: Dimension): void
}

/** The first name is the card's own; the heading is what is chosen. */
export function CardTabs({ label, dimensions, chosen, onChoose }: Props) {
  const { t } = useLingui()
  return (
    <>
      <h2 className="sr-only">{label}</h2>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset can't be laid out in a line in every browser */}
      <div role="group" aria-label={label} className="flex min-w-0 overflow-x-auto">
        {dimensions.map((dimension) => (
          <button
            key={dimension}
            type="button"
            aria-pressed={dimension === chosen}
            onClick={() => onChoose(dimension)}
            className="h-8 shrink-0 rounded-sm pr-3 text-sm whitespace-nowrap text-muted hover:text-ink aria-pressed:font-semibold aria-pressed:text-ink max-md:h-11"
          >
            {t(dimensionTexts[dimension])}
          </button>
        ))}
      </div>
    </>
  )
}
