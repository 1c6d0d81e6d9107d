import * as fc from 'fast-check'
import {
  BREAK,
  buildSchema,
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
  type ValidationRule,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { validateInOneWalk } from '../../../packages/core/src/documents/validate-in-one-walk.ts'

const schema = buildSchema(`
  directive @tag(name: String!, size: Int = 1) repeatable on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT | QUERY | VARIABLE_DEFINITION
  directive @once(if: Boolean) on FIELD | FRAGMENT_DEFINITION
  enum Color { RED GREEN }
  input Point { x: Int! y: Int = 2 next: Point colors: [Color!] }
  input Choice @oneOf { id: ID name: String }
  interface Node { id: ID! }
  interface Named implements Node { id: ID! name(upper: Boolean, size: Int!): String }
  type User implements Node & Named { id: ID! name(upper: Boolean, size: Int!): String friends(first: Int, at: Point): [User!]! color: Color pet: Pet }
  type Cat implements Node { id: ID! name: String lives: Int! }
  type Dog implements Node { id: ID! name: [String] barks: Boolean }
  union Pet = Cat | Dog
  type Query { user(id: ID!, choice: Choice): User node(id: ID): Node pet: Pet users(color: Color = RED, ids: [ID!], at: [Point]): [User] }
  type Mutation { rename(id: ID!, name: String!): User }
  type Subscription { changed(id: ID): User renamed: User }
`)

const pick = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts)
const some = (text: fc.Arbitrary<string>, most: number): fc.Arbitrary<string> =>
  fc.array(text, { maxLength: most }).map((texts) => texts.join(' '))
const name = pick(
  'id',
  'name',
  'user',
  'users',
  'node',
  'pet',
  'friends',
  'color',
  'lives',
  'barks',
  'nothing',
  '__typename',
  '__schema',
)
const type = pick('User', 'Cat', 'Dog', 'Pet', 'Node', 'Named', 'Query', 'Point', 'Color', 'Nobody')
const variable = pick('$a', '$b', '$c')
const scalar = pick('1', '-2.5', '"a"', 'true', 'null', 'RED', 'PINK', '"""b"""', '99999999999')
const argumentName = pick(
  'id',
  'size',
  'upper',
  'first',
  'at',
  'color',
  'ids',
  'choice',
  'if',
  'name',
  'other',
)

const { selections } = fc.letrec<
  Record<'value' | 'selections' | 'selection' | 'directive' | 'argument', string>
>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    variable,
    fc.array(tie('value'), { maxLength: 2 }).map((values) => `[${values.join(', ')}]`),
    fc
      .array(fc.tuple(pick('x', 'y', 'next', 'colors', 'id', 'name', 'z'), tie('value')), { maxLength: 3 })
      .map((members) => `{${members.map(([key, given]) => `${key}: ${given}`).join(', ')}}`),
  ),
  argument: fc.tuple(argumentName, tie('value')).map(([key, given]) => `${key}: ${given}`),
  directive: fc
    .tuple(pick('skip', 'include', 'tag', 'once', 'unknown', 'deprecated'), some(tie('argument'), 2))
    .map(([which, given]) => `@${which}${given && `(${given})`}`),
  selection: fc.oneof(
    { depthSize: 'medium' },
    fc
      .tuple(some(pick('first', 'id', 'again'), 1), name, some(tie('argument'), 2), some(tie('directive'), 2))
      .map(
        ([alias, field, given, marks]) => `${alias && `${alias}: `}${field}${given && `(${given})`} ${marks}`,
      ),
    fc
      .tuple(pick('A', 'B', 'C', 'D'), some(tie('directive'), 1))
      .map(([spread, marks]) => `...${spread} ${marks}`),
    fc
      .tuple(name, some(tie('argument'), 2), tie('selections'))
      .map(([field, given, below]) => `${field}${given && `(${given})`} ${below}`),
    fc
      .tuple(fc.option(type), some(tie('directive'), 1), tie('selections'))
      .map(([on, marks, below]) => `...${on ? ` on ${on}` : ''} ${marks} ${below}`),
  ),
  selections: fc.array(tie('selection'), { minLength: 1, maxLength: 4 }).map((all) => `{ ${all.join(' ')} }`),
}))

const definition = fc.oneof(
  fc
    .tuple(
      pick('query', 'mutation', 'subscription'),
      some(pick('One', 'Two'), 1),
      fc.array(
        fc.tuple(
          variable,
          pick('ID!', 'Int', '[Color!]', 'Point', 'User', 'Nobody', 'String!'),
          fc.option(scalar),
        ),
        { maxLength: 3 },
      ),
      selections,
    )
    .map(([kind, called, variables, below]) => {
      const declared = variables.map(
        ([key, of, given]) => `${key}: ${of}${given === null ? '' : ` = ${given}`}`,
      )
      return `${kind} ${called} ${declared.length > 0 ? `(${declared.join(', ')})` : ''} ${below}`
    }),
  fc
    .tuple(pick('A', 'B', 'C'), type, selections)
    .map(([called, on, below]) => `fragment ${called} on ${on} ${below}`),
  selections,
  pick('type Extra { id: ID }', 'extend type User { more: Int }'),
)
const documents = fc.array(definition, { minLength: 1, maxLength: 4 }).map((all) => all.join('\n'))

/** Looks at every node, and into no inline fragment; stops behind a fragment. */
const looksAtAll: ValidationRule = (context) => ({
  enter(node) {
    if (node.kind === 'InlineFragment') return false
    if (node.kind === 'Field' && node.name.value === 'nothing')
      context.reportError(new GraphQLError(`entered ${String(context.getParentType())}`, { nodes: node }))
    return undefined
  },
  leave(node) {
    if (node.kind === 'FragmentDefinition') return BREAK
    if (node.kind === 'SelectionSet') context.reportError(new GraphQLError('left', { nodes: node }))
    return undefined
  },
  Argument: { leave: (node) => context.reportError(new GraphQLError('left one', { nodes: node })) },
})

/** Looks into no friends, and stops at an operation. */
const looksAtFields: ValidationRule = (context) => ({
  Field(node, key, _parent, path, ancestors) {
    const place = `${key} ${path.join('.')} ${ancestors.length}`
    context.reportError(new GraphQLError(`${String(context.getType())} ${place}`, { nodes: node }))
    return node.name.value === 'friends' ? false : undefined
  },
  OperationDefinition: { enter: ({ name: called }) => (called?.value === 'Two' ? BREAK : undefined) },
})

/** The errors; or what is thrown, as by graphql's own rule of subscriptions on a `@skip` without its argument. */
function told(find: () => readonly GraphQLError[]): readonly unknown[] {
  try {
    return find().map(({ message, positions, locations, nodes, path, extensions }) => ({
      message,
      positions,
      locations,
      nodes: nodes?.map(({ kind, loc }) => `${kind} ${loc?.start}`),
      path,
      extensions,
    }))
  } catch (error) {
    return ['thrown', String(error)]
  }
}

/** How many documents were wrong, of those that were tried. */
function wrongOnes(asked: readonly ValidationRule[], maxErrors: number): number {
  let wrong = 0
  let made = 0
  const counted: ValidationRule = () => {
    made++
    return {}
  }
  const rules = [...asked, counted]
  fc.assert(
    fc.property(documents, (text) => {
      const document = parse(text)
      const expected = told(() => validate(schema, document, rules, { maxErrors }))
      if (expected.length > 0) wrong++
      made = 0
      expect(told(() => validateInOneWalk(schema, document, rules, { maxErrors }))).toEqual(expected)
      // Where it does not end early, nobody has to look twice.
      const endsEarly = expected[0] === 'thrown' || expected.length > maxErrors
      expect(endsEarly || made === 1).toBe(true)
    }),
    { numRuns: 200 },
  )
  return wrong
}

describe('in one walk rules find what they find in graphql’s own: the same texts, positions and order', () => {
  it.each([
    ["graphql's own", specifiedRules, 100],
    ['as many errors as are allowed', specifiedRules, 3],
    [
      'rules of one’s own among them',
      [looksAtAll, ...specifiedRules, NoSchemaIntrospectionCustomRule, looksAtFields],
      100,
    ],
  ] as const)('%s', (_, rules, maxErrors) => {
    expect(wrongOnes(rules, maxErrors)).toBeGreaterThan(50)
  })
})
