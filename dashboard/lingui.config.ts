import { defineConfig } from '@lingui/cli'
import { formatter } from '@lingui/format-po'

/** One catalog for the shell and its parts, and one for each feature, so that a page loads only its own. */
export default defineConfig({
  sourceLocale: 'en',
  locales: ['en', 'de'],
  fallbackLocales: { default: 'en' },
  format: formatter({ origins: false, lineNumbers: false, printLinguiId: false }),
  catalogs: [
    {
      path: '<rootDir>/src/locales/app/{locale}',
      include: ['<rootDir>/src/app', '<rootDir>/src/ui', '<rootDir>/src/charts'],
    },
    { path: '<rootDir>/src/locales/{name}/{locale}', include: ['<rootDir>/src/features/{name}/'] },
  ],
})
