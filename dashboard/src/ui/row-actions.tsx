import { Pencil, Trash2 } from 'lucide-react'
import { Button } from './button.tsx'

type Props = { labels: { edit: string; remove: string }; onEdit(): void; onRemove(): void }

/** The two buttons at the end of a row. */
export function RowActions({ labels, onEdit, onRemove }: Props) {
  return (
    <span className="flex">
      <Button kind="quiet" size="icon" aria-label={labels.edit} onClick={onEdit}>
        <Pencil size={14} aria-hidden />
      </Button>
      <Button kind="quiet" size="icon" aria-label={labels.remove} onClick={onRemove}>
        <Trash2 size={14} aria-hidden />
      </Button>
    </span>
  )
}
