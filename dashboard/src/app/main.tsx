import { i18n } from '@lingui/core'
import { I18nProvider } from '@lingui/react'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startFirstPage } from './first-page.ts'
import { startLanguage } from './languages.ts'
import { queryClient } from './queries.ts'
import { router } from './router.ts'
import { loadWorkspaces } from './session.ts'
import './styles.css'

// The scroll lock of dialogs adds a style element, which the content security policy allows only with the page's nonce.
setNonce(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '')

addEventListener('vite:preloadError', () => void reloadAfterUpgrade())

// A message without a catalog entry would show as an id: `npm run messages` writes the entry. Tests fail by this line.
i18n.on('missing', ({ id }) => console.error(`There is no message ${id} in the catalog of ${i18n.locale}.`))

// Asked for already while messages load.
void loadWorkspaces().catch(() => {})
startFirstPage()
await startLanguage()
createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
)

/** After an upgrade the server has no longer the files of the page that is open; the new page has the new ones. */
async function reloadAfterUpgrade(): Promise<void> {
  const response = await fetch(location.pathname).catch(() => undefined)
  const script = document.querySelector<HTMLScriptElement>('script[type=module][src]')
  if (!response?.ok || !script) return
  if (!(await response.text()).includes(new URL(script.src).pathname)) location.reload()
}
