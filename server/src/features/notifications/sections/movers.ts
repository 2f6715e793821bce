export type LinkWeek = { name: string; clicks: number; before: number }

const mostMovers = 3
const leastChange = 10
// In standard deviations of independent visitors.
const leastDistance = 3

/** The links whose clicks rose and fell the most between two weeks, by more than chance. */
export function findMovers(links: LinkWeek[]): { rose: LinkWeek[]; fell: LinkWeek[] } {
  const change = ({ clicks, before }: LinkWeek) => clicks - before
  const moved = links.filter((link) => {
    const distance = 2 * Math.abs(Math.sqrt(link.clicks) - Math.sqrt(link.before))
    return Math.abs(change(link)) >= leastChange && distance >= leastDistance
  })
  const sorted = moved.toSorted((one, other) => change(other) - change(one))
  return {
    rose: sorted.filter((link) => change(link) > 0).slice(0, mostMovers),
    fell: sorted
      .filter((link) => change(link) < 0)
      .reverse()
      .slice(0, mostMovers),
  }
}
