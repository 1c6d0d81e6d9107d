import { GraphQLError } from 'graphql'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeWithBrowser, keepPicture, openPage } from '../support/browser.ts'
import { OWN_SCHEMA, post, startGateway } from '../support/gateway.ts'

const PATIENCE = { timeout: 20_000 }
/** How many kinds the page lists. */
const LISTED = 20
/** As tools that generate code name operations. */
const CALLER = 'AskedByAComponentDeepDownInATree_ForSomethingWithALongName_AsGenerated'

async function stage(): Promise<{ page: Page; fail(code: string): Promise<void> }> {
  const { endpoint, server } = await startGateway({
    ...OWN_SCHEMA,
    resolvers: {
      Query: {
        echo: (_: unknown, { text }: { text: string }) => {
          throw new GraphQLError('no', { extensions: { code: text } })
        },
      },
    },
  })
  const { page } = await openPage()
  await page.goto(`${server.url}/status`)
  const query = `query ${CALLER}($text: String) { echo(text: $text) }`
  return {
    page,
    fail: async (text) => void (await (await post(endpoint, { query, variables: { text } })).text()),
  }
}

describeWithBrowser('the errors on the status page', () => {
  it('are counted in words that fit what is listed', async () => {
    const { page, fail } = await stage()
    const note = (): Promise<string> => page.locator('#errors-note').innerText()
    await expect.poll(() => page.locator('#connection').innerText(), PATIENCE).toBe('live')
    expect(await note()).toBe('No errors since the start.')
    expect(await page.locator('.bar').isVisible()).toBe(false)
    await fail('TEA_POT')
    await expect.poll(note, PATIENCE).toBe('1 error of 1 kind since the start.')
    await fail('TEA_POT')
    await expect.poll(note, PATIENCE).toBe('2 errors of 1 kind since the start.')
    for (let i = 0; i < LISTED; i++) await fail(`KIND_${i}`)
    await expect.poll(note, PATIENCE).toBe('The latest 20 kinds: 20 of 22 errors since the start.')
    expect(await page.locator('#errors tr').count()).toBe(LISTED)
    expect(await page.locator('#requests-note').innerText()).toBe('22 failed')
    await keepPicture(page, 'status-errors')
  }, 60_000)

  it('have a title in words, with the code below', async () => {
    const { page, fail } = await stage()
    await fail('OPERATION_RESOLUTION_FAILURE')
    await fail('TEA_POT')
    const titles = (): Promise<string[]> => page.locator('#errors th').allInnerTexts()
    await expect
      .poll(titles, PATIENCE)
      .toEqual([
        'Tea pot\nTEA_POT',
        'A document does not contain the requested operation\nOPERATION_RESOLUTION_FAILURE',
      ])
  }, 60_000)

  it.each([1400, 390])(
    'have times and counts in one line each, at %i px',
    async (width) => {
      const { page, fail } = await stage()
      await page.setViewportSize({ width, height: 844 })
      await fail('TEA_POT')
      await page.locator('#errors tr').waitFor()
      const lines: number[] =
        await page.evaluate(`[...document.querySelectorAll('main thead th, main time, main .number')]
      .filter((cell) => cell.textContent && cell.getBoundingClientRect().height > 0)
      .map((cell) => {
        const text = document.createRange()
        text.selectNodeContents(cell)
        return new Set([...text.getClientRects()].map(({ bottom }) => Math.round(bottom))).size
      })`)
      expect(lines.length).toBeGreaterThan(2)
      expect(new Set(lines)).toEqual(new Set([1]))
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    },
    60_000,
  )

  it('come below a heading that claims no version before the first release', async () => {
    const { page } = await stage()
    await expect.poll(() => page.locator('#preset').innerText(), PATIENCE).toBe('gateway, development preset')
  }, 60_000)
})
