/** What the palest and the strongest colour stand for. */
export function MapLegend({ most }: { most: string }) {
  return (
    <div aria-hidden className="mt-1 flex items-center gap-1.5 text-xs">
      <span className="text-faint">0</span>
      <span className="flex overflow-hidden rounded-sm">
        {[0.22, 0.48, 0.74, 1].map((opacity) => (
          <span key={opacity} className="h-2 w-4 bg-current" style={{ opacity }} />
        ))}
      </span>
      <span className="text-faint">{most}</span>
    </div>
  )
}
