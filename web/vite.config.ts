import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// The build must be byte-reproducible (web.md §3), and its output must run
// under the strict policy of web.go: nothing inlined, no preload polyfill.
export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-query|query-core)|wouter|regexparam|use-sync-external-store|mitt)\// },
            { name: 'text', test: /node_modules\/marked\// },
            { name: 'writer', test: /node_modules\/(@tiptap|prosemirror-[a-z]+|orderedmap|rope-sequence|w3c-keyname)\// },
            { name: 'graph', test: /node_modules\/(@dagrejs|diff)\// },
            { name: 'editor', test: /node_modules\/(@codemirror|@lezer|@marijn|style-mod|crelt)\// },
          ],
        },
      },
    },
  },
  server: {
    port: 5173,
    proxy: { '/v1': { target: process.env.LIMINAL_API ?? 'http://127.0.0.1:8080', ws: true } },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/settled.ts'],
    // A busy machine lets anything stand still.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
