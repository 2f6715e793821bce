import { Image } from 'lucide-react'

/** Networks whose previews differ, with their names. */
export const networks = { facebook: 'Facebook', linkedin: 'LinkedIn', x: 'X', slack: 'Slack' } as const
export type Network = keyof typeof networks

type Props = { network: Network; title: string; description: string; image: string | undefined; host: string }

/** A preview in the manner of one network; only what differs in order and emphasis, not its colours. */
export function PreviewCard({ network, ...card }: Props) {
  return (
    <div dir="auto" className="max-w-110 text-sm" data-network={network}>
      {network === 'slack' ? <SlackCard {...card} /> : network === 'x' ? <XCard {...card} /> : null}
      {network === 'facebook' && (
        <div className="overflow-hidden border bg-raised">
          <Picture image={card.image} />
          <div className="border-t bg-hover px-3 py-2">
            <p className="truncate text-xs text-muted uppercase">
              <bdi>{card.host}</bdi>
            </p>
            <p className="line-clamp-2 font-semibold wrap-anywhere">{card.title}</p>
            <p className="line-clamp-1 text-muted wrap-anywhere">{card.description}</p>
          </div>
        </div>
      )}
      {network === 'linkedin' && (
        <div className="flex items-center gap-3 overflow-hidden rounded-lg border bg-raised p-2">
          <Picture image={card.image} className="w-32 shrink-0 rounded-md" />
          <div className="min-w-0">
            <p className="line-clamp-2 font-semibold wrap-anywhere">{card.title}</p>
            <p className="truncate text-xs text-muted">
              <bdi>{card.host}</bdi>
            </p>
          </div>
        </div>
      )}
    </div>
  )
}

type CardProps = Omit<Props, 'network'>

function XCard({ title, image, host }: CardProps) {
  return (
    <>
      <div className="relative overflow-hidden rounded-lg border">
        <Picture image={image} />
        <p className="absolute bottom-2 left-2 max-w-11/12 truncate rounded-sm bg-surface px-1.5 text-xs">{title}</p>
      </div>
      <p className="mt-1 truncate text-xs text-muted">
        <bdi>{host}</bdi>
      </p>
    </>
  )
}

function SlackCard({ title, description, image, host }: CardProps) {
  return (
    <div className="flex flex-col gap-1 border-l-4 border-line-strong pl-3">
      <p className="truncate text-xs font-semibold">
        <bdi>{host}</bdi>
      </p>
      <p className="font-semibold text-accent wrap-anywhere">{title}</p>
      <p className="line-clamp-3 wrap-anywhere">{description}</p>
      <Picture image={image} className="max-w-80 rounded-md" />
    </div>
  )
}

function Picture({ image, className = '' }: { image: string | undefined; className?: string }) {
  return (
    <div className={`grid aspect-[1.91] place-items-center overflow-hidden bg-hover text-faint ${className}`}>
      {image ? <img src={image} alt="" className="size-full object-cover" /> : <Image size={24} aria-hidden />}
    </div>
  )
}
