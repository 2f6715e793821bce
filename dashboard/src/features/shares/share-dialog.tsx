import { Suspense } from 'react'
import { lazyPart } from '../../app/lazy-part.ts'
import type { ShareSubject } from './share-values.ts'

const ShareList = lazyPart(['shares'], async () => (await import('./share-list.tsx')).ShareList)

type Props = { subject: ShareSubject; isOpen: boolean; onClose(): void }

/** Shares the statistics of a view, link or folder. What it shows loads when it is first opened. */
export function ShareDialog({ subject, isOpen, onClose }: Props) {
  return <Suspense>{isOpen && <ShareList subject={subject} onClose={onClose} />}</Suspense>
}
