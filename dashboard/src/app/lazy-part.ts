import { type ComponentType, lazy } from 'react'
import { loadMessages } from './languages.ts'

/** A part of a page that loads when it is first shown, with the messages of these features. */
export function lazyPart<Props>(features: readonly string[], load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => {
    const [part] = await Promise.all([load(), ...features.map(loadMessages)])
    return { default: part }
  })
}
