import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { defineConfig, type DefaultTheme, type UserConfig } from 'vitepress'
import { deadLinks } from '../src/check-links.ts'
import { INTEGRATION, PLUGINS, publicPackages, REPOSITORY_URL, siteLink } from '../src/repository.ts'

const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link })

/** Returns the link to a page with its title. */
function titledPage(folder: string, name: string): DefaultTheme.SidebarItem {
  const text = readFileSync(new URL(`../${folder}/${name}.md`, import.meta.url), 'utf8')
  const [, title = name] = /^# (.+)$/m.exec(text) ?? []
  return page(title, `/${folder}/${name}`)
}

function namesIn(folder: string): string[] {
  return readdirSync(new URL(`../${folder}/`, import.meta.url))
    .filter((file) => file.endsWith('.md') && !/^(index|README)\.md$/.test(file) && !file.startsWith('['))
    .map((file) => file.replace(/\.md$/, ''))
}

/** Returns the pages of a folder, sorted by title. */
function pagesOf(folder: string): DefaultTheme.SidebarItem[] {
  return namesIn(folder)
    .map((name) => titledPage(folder, name))
    .sort((a, b) => String(a.text).localeCompare(String(b.text)))
}

/** The recipes by task, in reading order. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  Secure: ['jwt', 'field-rules', 'persisted-documents', 'rate-limits', 'cost', 'grpc-tls', 'openapi-keys'],
  Cache: ['caching', 'change-data-capture', 'apq'],
  Scale: ['workers', 'redis', 'nats'],
  Observe: ['observability'],
  Deploy: ['docker', 'kubernetes', 'nginx'],
  Combine: ['joins', 'own-plugins', 'federation', 'subscriptions', 'uploads', 'openapi-urls'],
}

function recipeGroups(): DefaultTheme.SidebarItem[] {
  const listed = new Set(Object.values(RECIPES).flat())
  const missing = namesIn('recipes').filter((name) => !listed.has(name))
  if (missing.length > 0) throw new Error(`Add these recipes to a group of RECIPES: ${missing.join(', ')}`)
  return Object.entries(RECIPES).map(([text, names]) => ({
    text,
    collapsed: true,
    items: names.map((name) => titledPage('recipes', name)),
  }))
}

const sidebar: DefaultTheme.SidebarItem[] = [
  page('Start here', '/start-here'),
  page('Install', '/install'),
  page('Who this is not for', '/not-for'),
  page('Comparison', '/comparison'),
  page('Performance', '/performance'),
  {
    text: 'Gateway',
    items: [
      page('Config files and access', '/gateway/'),
      page('Commands', '/gateway/commands'),
      page('Config reference', '/gateway/config'),
      page('Metrics', '/gateway/metrics'),
    ],
  },
  { text: 'Clients', items: [page('Overview', '/clients/'), ...pagesOf('clients')] },
  { text: 'Recipes', items: recipeGroups() },
  page('Production checklist', '/production'),
  page('Troubleshooting', '/troubleshooting'),
  page('Scale', '/scale'),
  page('Upgrade', '/upgrading'),
  page('Security', '/security'),
  { text: 'Coming from', items: pagesOf('migrating') },
  { text: 'Plugins', items: PLUGINS.map((name) => page(name, `/plugins/${name}`)) },
  { text: 'Writing a source', items: INTEGRATION.map((name) => page(name, `/plugins/${name}`)) },
  {
    text: 'API',
    collapsed: true,
    items: publicPackages().map(({ name }) => page(name, `/api/${name.replace('@vinyasa/', '')}`)),
  },
  { text: 'Decisions', collapsed: true, items: [page('All', '/decisions/'), ...pagesOf('decisions')] },
]

const config: UserConfig<DefaultTheme.Config> = defineConfig({
  title: 'Vinyasa',
  description: 'One GraphQL API in front of gRPC services and REST APIs, on Node',
  lang: 'en',
  cleanUrls: true,
  // GitHub shows README.md as the index of a folder.
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  // Links to http://localhost:4000 are examples.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    config(md) {
      // `v-pre` prevents Vue from evaluating braces in code.
      md.renderer.rules['code_inline'] = (tokens, index) =>
        `<code v-pre>${md.utils.escapeHtml(tokens[index]?.content ?? '')}</code>`
      // Relative links to files also work on GitHub. On the site they lead to a page, or to the public repository.
      md.core.ruler.push('repository-links', (state) => {
        const { relativePath = '' } = state.env as { readonly relativePath?: string }
        const folder = posix.dirname(posix.join('docs', relativePath))
        for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href')
          const isOutside = href !== null && /^\.\.?\//.test(href) && !existsInDocs(posix.join(folder, href))
          if (token.type === 'link_open' && isOutside) token.attrSet('href', siteLink(href, folder))
        }
      })
    },
  },
  buildEnd({ outDir }) {
    const dead = deadLinks(outDir)
    if (dead.length > 0) throw new Error(`Dead links:\n${dead.join('\n')}`)
  },
  themeConfig: {
    nav: [page('Start here', '/start-here'), page('Config', '/gateway/config')] as DefaultTheme.NavItem[],
    sidebar,
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: REPOSITORY_URL }],
    outline: [2, 3],
  },
})
export default config

function existsInDocs(path: string): boolean {
  return path.startsWith('docs/') && existsSync(new URL(`../../${path.replace(/#.*/, '')}`, import.meta.url))
}
