import type { Theme } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import './style.css'

export default {
  extends: theme,
  enhanceApp() {
    // The API reference was at /docs once; links into it go on working.
    if (!import.meta.env.SSR && /^#(tag|model|description)\b/.test(location.hash) && location.pathname === '/docs/') {
      location.replace(`/docs/reference${location.hash}`)
    }
  },
} satisfies Theme
