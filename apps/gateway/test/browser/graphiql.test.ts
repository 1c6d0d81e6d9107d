import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { post } from '../support/gateway.ts'
import { describeWithBrowser, keepPicture } from '../support/browser.ts'
import { openGraphiQL, PATIENCE, result, runTab } from '../support/graphiql.ts'

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
    const { page, endpoint, outside, errors, release } = await openGraphiQL()

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
