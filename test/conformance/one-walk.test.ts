import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Whoever looks for fragments by itself forgets a condition, or follows them as often as they are spread. */
const FOLLOWS_FRAGMENTS =
  /\bFRAGMENT_(?:SPREAD|DEFINITION)\b|\bFragmentSpread\b|\bFragmentDefinition\b|\bINLINE_FRAGMENT\b|['"]InlineFragment['"]|\bfragments(?:\.get\(|\[)[\w.]+\.name\.value/

const MAY: Readonly<Record<string, string>> = {
  'packages/core/src/documents/': 'It is the one that follows them.',
  'packages/response-cache/src/document/document-profile.ts':
    'It takes the fragments apart that only held a directive.',
  'packages/source-kit/src/naming/field-sets.ts': 'It prints a set of fields, which it parsed as a fragment.',
  'packages/defer-splitter/src/document/directives.ts': 'It says where directives may stand.',
  'apps/gateway/src/commands/against/read-old-schema.ts':
    'It knows directives of operations by where they may stand.',
}

const find = (text: string): string[] =>
  text.split('\n').filter((line) => !/^\s*(\*|\/\/|\/\*)/.test(line) && FOLLOWS_FRAGMENTS.test(line))

describe('documents are walked through in one place', () => {
  it.each([
    ['if (selection.kind === Kind.FRAGMENT_SPREAD) {', true],
    ["case 'FragmentSpread':", true],
    ['if (definition.kind === Kind.FRAGMENT_DEFINITION)', true],
    ["kind === 'FragmentDefinition'", true],
    ['FragmentSpread: ({ name }) => void spread.add(name.value),', true],
    ['case Kind.INLINE_FRAGMENT:', true],
    ['const fragment = fragments.get(selection.name.value)', true],
    ['const fragment = info.fragments[selection.name.value]', true],
    ['readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>', false],
    ['const fragments = fragmentsOf(document)', false],
  ])('%s: %s', (line, follows) => expect(find(line)).toEqual(follows ? [line] : []))

  it('by whoever needs their fields', () => {
    const files = ['packages', 'apps'].flatMap((folder) => sourceFilesUnder(root, folder))
    const found = files.filter((file) => find(readFileSync(`${root}/${file}`, 'utf8')).length > 0)
    const mayNot = found.filter((file) => !Object.keys(MAY).some((place) => file.startsWith(place)))
    expect(mayNot).toEqual([])
    expect(Object.keys(MAY).filter((place) => !found.some((file) => file.startsWith(place)))).toEqual([])
  })
})
