/** A position in a journey: of a click (`number` is -1), or of a lead, sale or refund (`id` is empty). */
export type Position = { at: number; number: bigint; id: string }
type Item = { position: Position }

/**
 * A page of clicks and of conversions from a position on. `clicks` are all, oldest first; `conversions` those beyond the
 * position, in the order of the page. `isCut` when there is more.
 */
export function mergePage<Click extends Item, Conversion extends Item>(
  clicks: Click[],
  conversions: Conversion[],
  { ascending, after, count }: { ascending: boolean; after?: Position; count: number },
): { items: (Click | Conversion)[]; isCut: boolean } {
  const direction = ascending ? 1 : -1
  const isBefore = (one: Position, other: Position) => direction * comparePositions(one, other) < 0
  const left = (ascending ? clicks : clicks.toReversed()).filter(({ position }) => !after || isBefore(after, position))
  const items: (Click | Conversion)[] = []
  let clickIndex = 0
  for (const conversion of conversions) {
    for (
      let click = left[clickIndex];
      click && isBefore(click.position, conversion.position);
      click = left[clickIndex]
    ) {
      items.push(click)
      clickIndex += 1
    }
    items.push(conversion)
  }
  items.push(...left.slice(clickIndex))
  return { items: items.slice(0, count), isCut: items.length > count }
}

/** Sorts by time; a click comes before the events of its millisecond. */
function comparePositions(one: Position, other: Position): number {
  if (one.at !== other.at) return one.at - other.at
  if (one.number !== other.number) return one.number < other.number ? -1 : 1
  return one.id === other.id ? 0 : one.id < other.id ? -1 : 1
}

/** The customer's value after each event of a page, from the value after the page's first event. */
export function runningValues(amounts: bigint[], first: bigint, ascending: boolean): bigint[] {
  const values: bigint[] = []
  let value = first
  for (const [index, amount] of amounts.entries()) {
    if (index > 0) value += ascending ? amount : -(amounts[index - 1] ?? 0n)
    values.push(value)
  }
  return values
}
