import { startRestBackend } from '@vinyasa/test-kit'
import { GraphQLError } from 'graphql'
import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { openPage } from './browser.ts'
import { startGateway } from './gateway.ts'

export interface Stage {
  readonly page: Page
  readonly endpoint: string
  readonly outside: readonly string[]
  readonly errors: readonly string[]
  /** Lets the deferred field answer. */
  release(): void
}

/** GraphiQL of a gateway with a query, a live query and a deferred one. */
export async function openGraphiQL(): Promise<Stage> {
  let name = 'Ada'
  const backend = await startRestBackend(({ method, json }) => {
    if (method === 'PATCH') name = json().name
    return { json: { id: '1', name } }
  })
  onTestFinished(() => backend.stop())
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const responseSchema = { typeName: 'User', fields: { id: 'id!', name: 'string' } }
  const { endpoint } = await startGateway({
    rest: {
      users: {
        baseUrl: backend.url,
        endpoints: [
          { name: 'currentUser', path: '/user', responseSchema, liveQuery: { enabled: true } },
          { name: 'updateUser', method: 'PATCH', path: '/user', args: { name: 'String!' }, responseSchema },
        ],
      },
    },
    typeDefs: `type Query { article: Article broken: String echo(text: String): String }
      type Article { title: String related: Article }`,
    resolvers: {
      Query: {
        article: () => ({ title: 'Quick' }),
        broken: () => {
          throw new GraphQLError('it fails')
        },
        echo: (_: unknown, { text }: { text: string }) => text,
      },
      Article: { related: () => released.then(() => ({ title: 'Slow' })) },
    },
  })
  const { page, outside, errors } = await openPage()
  await page.goto(endpoint, { timeout: 60_000 })
  await page.locator('.graphiql-container').first().waitFor()
  return { page, endpoint, outside, errors, release }
}

export const PATIENCE = { timeout: 25_000 }

/** Opens a tab and runs it until its result shows what is expected. */
export async function runTab(page: Page, tab: string, expected: RegExp): Promise<void> {
  const editor = page.locator('.graphiql-query-editor .view-lines').first()
  // A click on a page that is still setting itself up is lost, and a run right after a change of tabs may be the last
  // tab's: both are repeated, as a person would.
  const attempt = async (): Promise<string> => {
    if (!new RegExp(`query\\s${tab}`).test(await editor.innerText())) {
      await page.getByRole('tab', { name: tab }).click()
      return ''
    }
    const shown = await result(page)
    if (!expected.test(shown)) await setRunning(page, true)
    return shown
  }
  await expect.poll(attempt, { ...PATIENCE, interval: 500 }).toMatch(expected)
}

/** Clicks the one button that runs and stops, unless it is done already. GraphiQL may lose it: repeat until it shows. */
export async function setRunning(page: Page, wanted: boolean): Promise<void> {
  const button = page.locator('.graphiql-execute-button')
  const isRunning = (await button.getAttribute('aria-label'))?.startsWith('Stop') ?? false
  if (isRunning !== wanted) await button.click()
}

/** The text of the result, without the spaces and folds of the editor. */
export async function result(page: Page): Promise<string> {
  const lines = page.locator('.result-window .view-lines').first()
  const text = (await lines.count()) === 0 ? '' : await lines.innerText()
  return text.replace(/\s/g, '')
}
