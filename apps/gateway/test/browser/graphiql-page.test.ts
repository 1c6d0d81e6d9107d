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

  it('has one column on a narrow screen, as wide as the window, with whole lines and whole parts beside any panel', async () => {
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
      // Editors are laid out anew some time after the window is.
      const beside = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth - innerWidth')
      await expect.poll(beside, PATIENCE).toBe(0)
      await keepPicture(page, `graphiql-${width}`)
    }

    await page.setViewportSize({ width: 390, height: 844 })
    const clipped = (): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('.graphiql-editors, .graphiql-sidebar, .graphiql-editor-tools')]
        .filter((part) => part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth + 1
          || part.getBoundingClientRect().right > innerWidth)
        .map((part) => part.className || part.tagName)`)
    const longestLine = (): Promise<number> =>
      page.evaluate(`Math.max(...[...document.querySelectorAll('.graphiql-query-editor .view-line > span')].map((line) => line.getBoundingClientRect().right))
        - document.querySelector('.graphiql-query-editor .graphiql-toolbar').getBoundingClientRect().left`)
    await expect.poll(longestLine, PATIENCE).toBeLessThan(0)
    const widths: number[] = []
    for (const panel of ['History', 'Documentation Explorer', 'GraphiQL Explorer']) {
      await page.getByRole('button', { name: `Show ${panel}` }).click()
      await page.getByRole('button', { name: `Hide ${panel}` }).waitFor()
      await expect.poll(clipped, PATIENCE).toEqual([])
      await keepPicture(page, `graphiql-390-${panel}`)
      widths.push(
        (
          await page
            .getByPlaceholder('Ctrl Alt K')
            .boundingBox({ timeout: 100 })
            .catch(() => undefined)
        )?.width ?? 0,
      )
    }
    // What is said in a field is no measure of the page's.
    expect(Math.max(...widths)).toBeGreaterThan(75)
  }, 90_000)

  it('has editors in the colours of the system, when these change too, unless others were chosen', async () => {
    const { page } = await openGraphiQL()
    await runTab(page, 'First', PLAIN_RESULT)
    const theme = (): Promise<string> =>
      page.evaluate(
        `document.querySelector('.graphiql-query-editor .monaco-editor').className.match(/\\bvs(-dark)?\\b/)[0]`,
      )
    for (const [colorScheme, expected] of [
      ['dark', 'vs-dark'],
      ['light', 'vs'],
      ['dark', 'vs-dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await expect.poll(theme, PATIENCE).toBe(expected)
    }
    await keepPicture(page, 'graphiql-dark')
    await page.getByRole('button', { name: 'Open settings dialog' }).click()
    await page.getByRole('button', { name: 'Light' }).click()
    await expect.poll(theme, PATIENCE).toBe('vs')
    await page.emulateMedia({ colorScheme: 'light' })
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.waitForFunction(`matchMedia('(prefers-color-scheme: dark)').matches`)
    expect(await theme()).toBe('vs')
  }, 90_000)
})
