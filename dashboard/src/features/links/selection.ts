import { useEffect, useMemo, useState } from 'react'
import type { Selection } from '../../ui/table-types.ts'

export type LinkSelection = Selection & {
  ids: readonly string[]
  /** Whether all links that match the filters are selected, also those that are not loaded. */
  isAll: boolean
  selectAll(): void
  clear(): void
}

/** Which links are selected. Another filter ends the selection. */
export function useLinkSelection(loaded: readonly string[], filterKey: string): LinkSelection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [isAll, setAll] = useState(false)
  const [lastId, setLastId] = useState<string>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the filters change
  useEffect(() => {
    setChosen(new Set())
    setAll(false)
  }, [filterKey])
  return useMemo(() => {
    const isEvery = loaded.length > 0 && loaded.every((id) => chosen.has(id))
    const clear = () => {
      setChosen(new Set())
      setAll(false)
    }
    return {
      ids: [...chosen],
      isAll,
      has: (id) => isAll || chosen.has(id),
      state: isAll || isEvery || (chosen.size > 0 && 'indeterminate'),
      toggle(id, isRange) {
        setAll(false)
        setLastId(id)
        setChosen(toggleSelected(isAll ? new Set(loaded) : chosen, loaded, id, isRange ? lastId : undefined))
      },
      toggleAll() {
        setAll(false)
        setChosen(new Set(isAll || isEvery ? [] : loaded))
      },
      selectAll: () => setAll(true),
      clear,
    }
  }, [chosen, isAll, lastId, loaded])
}

/** Selects or deselects a link; with `from`, all between the two get the state of the clicked one. */
export function toggleSelected(
  chosen: ReadonlySet<string>,
  order: readonly string[],
  id: string,
  from?: string,
): ReadonlySet<string> {
  const [first, last] = [order.indexOf(from ?? id), order.indexOf(id)].sort((a, b) => a - b)
  const ids = from === undefined || first === -1 ? [id] : order.slice(first, (last ?? 0) + 1)
  const next = new Set(chosen)
  for (const one of ids) chosen.has(id) ? next.delete(one) : next.add(one)
  return next
}
