import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type CodeBlock, codeBlocks } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBlock, type Followed } from './support/check-block.ts'
import { type Story, startStory } from './support/story.ts'

const docs = fileURLToPath(new URL('../../docs/', import.meta.url))
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !/node_modules|\[|^decisions/.test(file),
)
const blocksOf = (page: string): CodeBlock[] => codeBlocks(readFileSync(`${docs}${page}`, 'utf8'))
/** What the first page has the reader make stands on all of them. */
const filesOf = (blocks: readonly CodeBlock[]): CodeBlock[] =>
  blocks.filter(({ file }) => file !== undefined && !file.includes('config'))
const given = filesOf(blocksOf('start-here.md'))
/** The pages about clients use the gateway of this page. */
const demoGateway = blocksOf('clients/demo-gateway.md')
const skipped: string[] = []

function followed(block: CodeBlock, blocks: readonly CodeBlock[]): Followed {
  const index = blocks.indexOf(block)
  return { ...block, before: blocks[index - 1], after: blocks[index + 1] }
}

describe.each(pages.map((page) => [page, blocksOf(page)] as const).filter(([, blocks]) => blocks.length > 0))(
  '%s',
  (page, blocks) => {
    let story: Story
    beforeAll(async () => {
      const isAboutClients = page.startsWith('clients/')
      story = await startStory(isAboutClients ? [...given, ...filesOf(demoGateway)] : given)
      if (!isAboutClients || page === 'clients/demo-gateway.md') return
      for (const block of demoGateway) await checkBlock(followed(block, demoGateway), story, () => {})
    }, 60_000)
    afterAll(() => story[Symbol.asyncDispose]())

    it.each(blocks.map((block) => followed(block, blocks)))('line $line: $language $file', async (block) => {
      await expect(checkBlock(block, story, (command) => skipped.push(command))).resolves.toBeUndefined()
    })
  },
)

it('only commands that need a registry, containers or a cluster are not run', () => {
  process.stdout.write(`Not run:\n${skipped.map((command) => `  ${command}\n`).join('')}`)
  expect(skipped.length).toBeLessThan(40)
})
