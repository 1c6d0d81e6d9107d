import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeWithBrowser, keepPicture } from '../support/browser.ts'
import { openGraphiQL, PATIENCE, result, runTab, setRunning } from '../support/graphiql.ts'

/** Documents whose one failing field is called `broken`, at the place that the editor shows. */
const FAILING = [
  ['in one line', '{ broken }'],
  ['below comments and empty lines', '# first\n\n# second\nquery Ask {\n  # here\n  broken\n}\n'],
  [
    'after strings that look like comments',
    'query Ask { article { a: title } b: echo(text: "# \\" }")\n\n  broken }',
  ],
  [
    'after a fragment',
    'fragment Part on Article { title }\n\nquery Ask {\n\n  article { ...Part }\n  broken\n}\n',
  ],
  ['beyond other characters', 'query Ask {\n  echo(text: "ééé 😀")   ,, broken\n}'],
  ['in the operation chosen of two', 'query Good {\n  article { title }\n}\n\nquery Bad {\n  broken\n}\n'],
] as const

interface Mark {
  readonly startLineNumber: number
  readonly startColumn: number
  readonly endColumn: number
  readonly message: string
}

/** What is marked in the editor of operations. */
function marks(page: Page): Promise<Mark[]> {
  return page.evaluate(`__MONACO.editor.getModelMarkers({}).filter(({ resource }) => resource.path.endsWith('graphql'))
    .map(({ startLineNumber, startColumn, endColumn, message }) => ({ startLineNumber, startColumn, endColumn, message }))`)
}

async function write(page: Page, text: string): Promise<void> {
  await page.evaluate(
    `__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith('operation.graphql')).setValue(${JSON.stringify(text)})`,
  )
}

/** Runs what was written until the page shows what is expected. */
async function runUntil(shown: () => Promise<unknown>, page: Page, expected: unknown): Promise<void> {
  const attempt = async (): Promise<unknown> => {
    const choice = page.getByRole('menuitem', { name: 'Bad' })
    if (await choice.isVisible()) await choice.click()
    else await setRunning(page, true)
    return shown()
  }
  await expect.poll(attempt, { ...PATIENCE, interval: 500 }).toEqual(expected)
}

const messages = async (page: Page): Promise<string[]> => (await marks(page)).map(({ message }) => message)

describeWithBrowser("GraphiQL's errors", () => {
  it('are marked in the editor where the answer says they are, once', async () => {
    const { page, errors } = await openGraphiQL()
    await runTab(page, 'First', /"data"/)
    for (const [where, text] of FAILING) {
      await write(page, text)
      await expect.poll(() => marks(page), { message: `${where}: gone with the text` }).toEqual([])
      const lines = text.slice(0, text.indexOf('broken')).split('\n')
      const column = (lines.at(-1) ?? '').length + 1
      const place = {
        startLineNumber: lines.length,
        startColumn: column,
        endColumn: column + 'broken'.length,
        message: 'it fails',
      }
      await runUntil(() => marks(page), page, [place])
      expect(await result(page)).toContain(`"locations":[{"line":${lines.length},"column":${column}}]`)
    }
    await keepPicture(page, 'graphiql-marked')
    await page.getByRole('tab', { name: 'Live' }).click()
    await expect.poll(() => marks(page)).toEqual([])
    await page.getByRole('tab', { name: 'Bad' }).click()
    await expect.poll(() => messages(page)).toEqual(['it fails'])

    // The editor sees this by itself, a little later.
    await write(page, '{ nope }')
    await runUntil(() => messages(page), page, ['Cannot query field "nope" on type "Query".'])
    await expect.poll(() => result(page)).toContain('GRAPHQL_VALIDATION_FAILED')
    expect(await messages(page)).toHaveLength(1)

    await write(page, 'query Ask {\n  article(\n}')
    const noStack = { message: 'SyntaxError:ExpectedName,found"}".', locations: [{ line: 3, column: 1 }] }
    await runUntil(async () => JSON.parse(await result(page)), page, { errors: [noStack] })
    await keepPicture(page, 'graphiql-syntax')
    expect(errors).toEqual([])
  }, 120_000)
})
