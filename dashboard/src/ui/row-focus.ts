/** The position of the row that has the focus; -1 if none has it. */
export function focusedIndex(): number {
  return Number(document.activeElement?.closest<HTMLElement>('[data-index]')?.dataset.index ?? -1)
}

/** Moves the focus to the next loaded row; from elsewhere, to the first that the window shows. */
export function focusRow(step: 1 | -1): void {
  const index = focusedIndex()
  const rows = [...document.querySelectorAll<HTMLElement>('[data-index]')]
  const row =
    index === -1
      ? rows.find((one) => one.getBoundingClientRect().top >= 0)
      : rows.find((one) => one.dataset.index === String(index + step))
  row?.scrollIntoView({ block: 'nearest' })
  row?.querySelector<HTMLElement>('[data-row-link]')?.focus({ preventScroll: true })
}
