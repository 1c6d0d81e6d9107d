import { type ASTNode, getLocation, Location, parse, printSourceLocation, type Token, visit } from 'graphql'
import { describe, expect, it } from 'vitest'
import { withoutTokens } from '../../src/documents/index.ts'

const TEXT = `# all users
query Q($id: ID! = "a" @old(by: 1), $many: [Int!]) @live(throttle: 10) {
  alias: user(id: $id, filter: { tags: ["x", """block"""], n: -1.5 }) { id ...F ... on User @skip(if: true) { name } }
}
fragment F on User @old(by: 2) { name # the name
}`

/** Options for variables of fragments in graphql 16 and 17. */
const WITH_VARIABLES = { allowLegacyFragmentVariables: true, experimentalFragmentArguments: true }

/** Returns a token without its references to the previous and next tokens. */
const plain = ({ kind, start, end, line, column, value }: Token) => ({
  kind,
  start,
  end,
  line,
  column,
  value,
})

function locationsOf(node: ASTNode): Location[] {
  const found: Location[] = []
  visit(node, { enter: ({ loc }) => void found.push(loc!) })
  return found
}

describe('withoutTokens', () => {
  it.each([
    TEXT,
    '{a}',
    '{ a }\n',
    'query($a:Int){a(a:$a)}{b}',
    '\ufeff{ a }',
    'fragment F($a: Int = 1) on Query { a(a: $a) }',
  ])('keeps the locations of %j', (text) => {
    const document = parse(text, WITH_VARIABLES)
    const before = locationsOf(parse(text, WITH_VARIABLES))
    expect(withoutTokens(document)).toBe(before.length)
    const after = locationsOf(document)
    expect(after).toHaveLength(before.length)
    for (const [index, loc] of after.entries()) {
      const asParsed = before[index]!
      expect(loc).toBeInstanceOf(Location)
      expect(String(Object.prototype.toString.call(loc))).toBe('[object Location]')
      expect(JSON.stringify(loc)).toBe(JSON.stringify(asParsed))
      expect(loc.source).toEqual(asParsed.source)
      expect(printSourceLocation(loc.source, getLocation(loc.source, loc.start))).toBe(
        printSourceLocation(asParsed.source, getLocation(asParsed.source, asParsed.start)),
      )
      expect(plain(loc.startToken)).toEqual(plain(asParsed.startToken))
      expect(plain(loc.endToken)).toEqual(plain(asParsed.endToken))
    }
  })

  it('removes all tokens', () => {
    const document = parse(TEXT)
    withoutTokens(document)
    expect(locationsOf(document).flatMap((loc) => Object.values(loc as object))).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ kind: expect.anything() as string })]),
    )
  })

  it('restores all tokens in order, including comments', () => {
    const document = parse(TEXT)
    withoutTokens(document)
    const chainOf = ({ startToken }: Location): string[] => {
      const values: string[] = []
      for (let token: Token | null = startToken; token; token = token.next)
        values.push(`${token.kind} ${token.value}`)
      return values
    }
    expect(chainOf(document.loc!)).toEqual(chainOf(parse(TEXT).loc!))
    expect(document.definitions[0]!.loc!.startToken.prev?.value).toBe(' all users')
  })

  it('returns the same number of nodes for a repeated call', () => {
    const document = parse(TEXT)
    expect(withoutTokens(document)).toBe(withoutTokens(document))
  })

  it('counts the nodes of frozen documents and documents without locations, and does not change them', () => {
    const count = withoutTokens(parse(TEXT))
    expect(withoutTokens(parse(TEXT, { noLocation: true }))).toBe(count)
    const frozen = parse(TEXT)
    visit(frozen, { enter: (node) => void Object.freeze(node) })
    expect(withoutTokens(frozen)).toBe(count)
    expect(Object.keys(frozen.definitions[0]!.loc!)).toContain('startToken')
  })
})
