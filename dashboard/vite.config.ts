import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { lingui, linguiTransformerBabelPreset } from '@lingui/vite-plugin'
import babel from '@rolldown/plugin-babel'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const cwd = import.meta.dirname
const api = process.env.API_URL ?? 'http://127.0.0.1:3000'

/** `vite build --mode share` builds the page of shared statistics, which visitors get without the rest of the dashboard. */
export default defineConfig(({ mode }) => ({
  root: cwd,
  base: '/app/',
  plugins: [
    react(),
    babel({ presets: [linguiTransformerBabelPreset({}, { cwd })] }),
    lingui({ cwd }),
    tailwindcss(),
    fontLicence(),
    compress(),
  ],
  // Replaced by the server, with another value in each response.
  html: { cspNonce: '__NONCE__' },
  build: {
    target: 'es2023',
    // Small files become no `data:` URLs, which the content security policy refuses for fonts and styles.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    ...(mode === 'share'
      ? { emptyOutDir: false, manifest: 'share-manifest.json' }
      : { license: { fileName: 'licences.md' }, manifest: 'manifest.json' }),
    rolldownOptions: {
      input: join(cwd, mode === 'share' ? 'share.html' : 'index.html'),
      // One file for what every page needs, and one for what most pages do: thirty files would compress worse, and each
      // would take a request.
      output: {
        codeSplitting: {
          groups: [
            { name: 'shell', tags: ['$initial'], test: /^(?!.*\/app\/(?:main|share)\.tsx$|.*\.html$)/, priority: 2 },
            {
              name: 'parts',
              test: /\/dashboard\/src\/|\/lucide-react\//,
              minShareCount: 5,
              maxModuleSize: 8_000,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  // `npm run dev --workspace dashboard` reloads pages as they change, beside the server of `npm run dev`.
  server: {
    proxy: {
      '^/(?!app(/|$))': { target: api, headers: { origin: api } },
    },
  },
}))

/** The font's licence must accompany it. */
function fontLicence(): Plugin {
  return {
    name: 'font-licence',
    apply: 'build',
    generateBundle() {
      const file = new URL('LICENSE', import.meta.resolve('@fontsource-variable/inter/package.json'))
      this.emitFile({ type: 'asset', fileName: 'inter-licence.txt', source: readFileSync(file) })
    },
  }
}

/** Writes a brotli and a gzip copy of each text file, which the server sends as they are. */
function compress(): Plugin {
  const isText = /\.(js|css|svg|json|md|txt)$/
  return {
    name: 'compress',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      async handler(_, bundle) {
        const texts = Object.values(bundle).filter(({ fileName }) => isText.test(fileName))
        for (const file of texts) {
          const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source)
          const options = { params: { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length } }
          const packed = {
            br: await promisify(brotliCompress)(bytes, options),
            gz: await promisify(gzip)(bytes, { level: 9 }),
          }
          for (const [ending, source] of Object.entries(packed)) {
            this.emitFile({ type: 'asset', fileName: `${file.fileName}.${ending}`, source })
          }
        }
      },
    },
  }
}
