import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeWithBrowser, keepPicture } from '../support/browser.ts'
import { openGraphiQL, PATIENCE, result, runTab, setRunning } from '../support/graphiql.ts'

const LIVE_RESULT = /"name":"Ada"/
const PLAIN_RESULT = /"title":"Quick"|"name":"Ada"/

/** What is said above the result. */
function sign(page: Page): Promise<string> {
  return page.evaluate(
    `getComputedStyle(document.querySelector('.graphiql-response'), '::before').content.replace(/^"|"$|^none$/g, '')`,
  )
}

describeWithBrowser('the page around GraphiQL', () => {
  it('says whether a result is live, and that it is stopped when another tab was opened', async () => {
    const { page, errors } = await openGraphiQL()
    await runTab(page, 'First', PLAIN_RESULT)
    expect(await sign(page)).toBe('')
    await runTab(page, 'Live', LIVE_RESULT)
    // What the protocol adds comes below what was asked for.
    expect(await result(page)).toMatch(/^\{"data":\{"currentUser"/)
    await expect.poll(() => sign(page), PATIENCE).toMatch(/Live:/)
    await page.getByRole('tab', { name: 'First' }).click()
    await expect.poll(() => sign(page), PATIENCE).toBe('')
    await page.getByRole('tab', { name: 'Live' }).click()
    await expect.poll(() => sign(page), PATIENCE).toMatch(/Stopped: this is the last value/)
    await keepPicture(page, 'graphiql-stopped')

    const signAfter = async (wanted: boolean): Promise<string> => {
      await setRunning(page, wanted)
      return sign(page)
    }
    await expect.poll(() => signAfter(true), { ...PATIENCE, interval: 500 }).toMatch(/Live:/)
    await expect.poll(() => signAfter(false), { ...PATIENCE, interval: 500 }).toMatch(/Stopped:/)
    expect(errors).toEqual([])
  }, 90_000)

  it('keeps a history of what was run', async () => {
    const { page } = await openGraphiQL()
    await runTab(page, 'First', PLAIN_RESULT)
    await page.getByRole('button', { name: 'Show History' }).click()
    await expect
      .poll(() => page.locator('.graphiql-history-item').allInnerTexts(), PATIENCE)
      .toEqual(['First'])
    await keepPicture(page, 'graphiql-history')
    expect(await page.getByRole('button', { name: 'Show GraphiQL Explorer' }).count()).toBe(1)
  }, 90_000)

  it('has one column on a narrow screen, as wide as the window', async () => {
    const { page } = await openGraphiQL()
    await runTab(page, 'First', PLAIN_RESULT)
    for (const width of [640, 390, 360]) {
      await page.setViewportSize({ width, height: 844 })
      const boxes = (): Promise<unknown[]> =>
        Promise.all(
          ['.graphiql-response', '.graphiql-editors'].map((part) => page.locator(part).boundingBox()),
        )
      const fits = (box: unknown): boolean => {
        const { y, width: own, height } = box as { y: number; width: number; height: number }
        return own > width * 0.9 && height > 200 && y + height <= 844
      }
      await expect.poll(async () => (await boxes()).map(fits), PATIENCE).toEqual([true, true])
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
      await keepPicture(page, `graphiql-${width}`)
    }
  }, 90_000)
})
