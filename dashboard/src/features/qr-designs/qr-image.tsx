import { useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'

type Props = { src: string; className?: string }

/** A drawing of the server. The last one stays, dimmed, until the next one has come. */
export function QrImage({ src, className = '' }: Props) {
  const { t } = useLingui()
  const [shown, setShown] = useState('')
  useEffect(() => {
    const image = new Image()
    image.onload = () => setShown(src)
    image.src = src
    return () => {
      image.onload = null
    }
  }, [src])
  if (!shown) return <span className={`block aspect-square animate-pulse rounded-sm bg-hover ${className}`} />
  return (
    <img
      src={shown}
      alt={t`QR code`}
      className={`rounded-sm transition-opacity ${shown === src ? '' : 'opacity-60'} ${className}`}
    />
  )
}
