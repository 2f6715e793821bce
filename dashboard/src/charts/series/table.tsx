import { Trans } from '@lingui/react/macro'
import { memo } from 'react'
import { countPositions, readPosition, type SeriesProps } from '../series.ts'

type Props = { series: SeriesProps }

/** Every value of a chart, for screen readers. */
export const SeriesTable = memo(function SeriesTable({ series }: Props) {
  const { columns, comparison, format } = series
  const hasNotes = (series.notes ?? []).length > 0
  const positions = Array.from({ length: countPositions(series) }, (_, index) => readPosition(series, index))
  return (
    <div className="sr-only">
      <table>
        <caption>{series.description}</caption>
        <thead>
          <tr>
            <th scope="col">{columns[0]}</th>
            <th scope="col">{columns[1]}</th>
            {comparison && <th scope="col">{comparison.name}</th>}
            {hasNotes && (
              <th scope="col">
                <Trans>Notes</Trans>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {positions.map(({ point, compared, texts, isPartial }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, such as hours when clocks are set back
            <tr key={index}>
              <th scope="row">{point?.name ?? '–'}</th>
              <td>
                {point && format(point.value)}
                {isPartial && (
                  <>
                    , <Trans>not complete yet</Trans>
                  </>
                )}
              </td>
              {comparison && <td>{compared && `${compared.name}: ${format(compared.value)}`}</td>}
              {hasNotes && <td>{texts.join('; ')}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
})
