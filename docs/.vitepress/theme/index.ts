import type { Theme } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import './style.css'

export default {
  extends: theme,
  enhanceApp() {
    // The API reference used to be at /docs; old links redirect.
    if (!import.meta.env.SSR && /^#(tag|model|description)\b/.test(location.hash) && location.pathname === '/docs/') {
      location.replace(`/docs/reference${location.hash}`)
    }
  },
} satisfies Theme
