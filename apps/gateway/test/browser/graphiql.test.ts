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

const PATIENCE = { timeout: 15_000 }

async function runTab(page: Page, tab: string): Promise<void> {
  const editor = page.locator('.graphiql-query-editor .view-lines').first()
  // A click on a page that is still setting itself up is lost.
  const opened = async (): Promise<string> => {
    await page.getByRole('tab', { name: tab }).click()
    return editor.innerText()
  }
  await expect.poll(opened, { ...PATIENCE, interval: 300 }).toMatch(new RegExp(`query\\s${tab}`))
  await page.locator('.graphiql-execute-button').click()
}

/** The text of the result, without the spaces and folds of the editor. */
async function result(page: Page): Promise<string> {
  const text = await page.locator('.result-window .view-lines').first().innerText()
  return text.replace(/\s/g, '')
}

describeWithBrowser('GraphiQL in a browser without the internet', () => {
  it('shows a query, a live query that changes, and a deferred part that comes later', async () => {
    const { page, endpoint, outside, errors, release } = await stage()

    await runTab(page, 'First')
    await expect.poll(() => result(page), PATIENCE).toMatch(/"title":"Quick"|"name":"Ada"/)
    await keepPicture(page, 'graphiql-query')

    await runTab(page, 'Live')
    await expect.poll(() => result(page), PATIENCE).toContain('"name":"Ada"')
    await keepPicture(page, 'graphiql-live-1')
    await post(endpoint, { query: 'mutation { updateUser(name: "Grace") { name } }' })
    await expect.poll(() => result(page), PATIENCE).toContain('"name":"Grace"')
    await keepPicture(page, 'graphiql-live-2')
    await page.locator('.graphiql-execute-button').click()

    await runTab(page, 'Deferred')
    await expect.poll(() => result(page), PATIENCE).toContain('"title":"Quick"')
    expect(await result(page)).not.toContain('Slow')
    await keepPicture(page, 'graphiql-defer-1')
    release()
    await expect.poll(() => result(page), PATIENCE).toContain('"title":"Slow"')
    await keepPicture(page, 'graphiql-defer-2')

    expect(outside).toEqual([])
    expect(errors).toEqual([])
  }, 90_000)
})
