import { startRestBackend } from '@vinyasa/test-kit'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { post, startGateway } from '../support/gateway.ts'
import { describeWithBrowser, keepPicture, openPage } from '../support/browser.ts'

interface Stage {
  readonly page: Page
  readonly endpoint: string
  readonly outside: readonly string[]
  readonly errors: readonly string[]
  /** Lets the deferred field answer. */
  release(): void
}

async function stage(): Promise<Stage> {
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
          { name: 'currentUser', path: '/user', responseSchema, live: { enabled: true } },
          { name: 'updateUser', method: 'PATCH', path: '/user', args: { name: 'String!' }, responseSchema },
        ],
      },
    },
    typeDefs: 'type Query { article: Article } type Article { title: String related: Article }',
    resolvers: {
      Query: { article: () => ({ title: 'Quick' }) },
      Article: { related: () => released.then(() => ({ title: 'Slow' })) },
    },
  })
  const { page, outside, errors } = await openPage()
  await page.goto(endpoint)
  await page.locator('.graphiql-container').first().waitFor()
  return { page, endpoint, outside, errors, release }
}

const PATIENCE = { timeout: 25_000 }

/** Opens a tab and runs it until its result shows what is expected. */
async function runTab(page: Page, tab: string, expected: RegExp): Promise<void> {
  const editor = page.locator('.graphiql-query-editor .view-lines').first()
  const button = page.locator('.graphiql-execute-button')
  // A click on a page that is still setting itself up is lost, and a run right after a change of tabs may be the last
  // tab's: both are repeated, as a person would.
  const attempt = async (): Promise<string> => {
    if (!new RegExp(`query\\s${tab}`).test(await editor.innerText())) {
      await page.getByRole('tab', { name: tab }).click()
      return ''
    }
    const shown = await result(page)
    const isRunning = (await button.getAttribute('aria-label'))?.startsWith('Stop')
    if (!expected.test(shown) && !isRunning) await button.click()
    return shown
  }
  await expect.poll(attempt, { ...PATIENCE, interval: 500 }).toMatch(expected)
}

/** The text of the result, without the spaces and folds of the editor. */
async function result(page: Page): Promise<string> {
  const lines = page.locator('.result-window .view-lines').first()
  const text = (await lines.count()) === 0 ? '' : await lines.innerText()
  return text.replace(/\s/g, '')
}

/** Clicks each tab once, as slowly as a person, and returns those that did not open by it. */
async function deafTabs(page: Page): Promise<string[]> {
  const deaf: string[] = []
  for (const name of ['Deferred', 'Live', 'First']) {
    const tab = page.getByRole('tab', { name })
    await tab.click({ delay: 80 })
    if ((await tab.getAttribute('aria-selected')) !== 'true') deaf.push(name)
  }
  return deaf
}

describeWithBrowser('GraphiQL in a browser without the internet', () => {
  it('shows a query, a live query that changes, and a deferred part that comes later', async () => {
    const { page, endpoint, outside, errors, release } = await stage()

    await runTab(page, 'First', /"title":"Quick"|"name":"Ada"/)
    await keepPicture(page, 'graphiql-query')
    expect(await deafTabs(page)).toEqual([])

    await runTab(page, 'Live', /(?=.*"is_initial":true).*"name":"Ada"/)
    await keepPicture(page, 'graphiql-live-1')
    await post(endpoint, { query: 'mutation { updateUser(name: "Grace") { name } }' })
    await expect.poll(() => result(page), PATIENCE).toContain('"name":"Grace"')
    await keepPicture(page, 'graphiql-live-2')
    await page.locator('.graphiql-execute-button').click()

    await runTab(page, 'Deferred', /"title":"Quick"/)
    expect(await result(page)).not.toContain('Slow')
    await keepPicture(page, 'graphiql-defer-1')
    release()
    await expect.poll(() => result(page), PATIENCE).toContain('"title":"Slow"')
    await keepPicture(page, 'graphiql-defer-2')

    expect(outside).toEqual([])
    expect(errors).toEqual([])
  }, 90_000)
})
