import { i18n } from '@lingui/core'
import { I18nProvider } from '@lingui/react'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { ApiError } from '@tributary/contract/client'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { PublicPage } from '../features/shares/public-page.tsx'
import { loadMessages, startLanguage } from './languages.ts'
import './styles.css'

/** The page of shared statistics: its own program, without session, router and shell. */

setNonce(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '')
i18n.on('missing', ({ id }) => console.error(`There is no message ${id} in the catalog of ${i18n.locale}.`))

const isFinal = (error: Error) => error instanceof ApiError && error.status < 500
const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (count, error) => count < 3 && !isFinal(error),
      placeholderData: (previous: unknown) => previous,
    },
  },
})

await startLanguage()
await Promise.all(['shares', 'analytics'].map(loadMessages))
createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={client}>
        <PublicPage />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
)
