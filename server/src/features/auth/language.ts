import { chooseLanguage } from '../dashboard/service.ts'

/** The language of the pages: the one that the visitor chose in the dashboard, else the first of ours that the browser prefers. */
export function readLanguage(headers: Headers): 'en' | 'de' {
  const chosen = /(?:^|; )tributary_language=(\w+)/.exec(headers.get('cookie') ?? '')?.[1]
  return chooseLanguage(chosen, headers.get('accept-language') ?? '')
}
