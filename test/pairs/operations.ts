import { createHash } from 'node:crypto'
import type { Random } from '@vinyasa/test-kit'

/** What a browser sends of no page by itself. */
export const ASKED_BY_CODE = { 'apollo-require-preflight': '1' } as const

/** What a client asks for. */
export interface Operation {
  /** Of the template that it is made of. */
  readonly name: string
  readonly text: string
  readonly variables?: Readonly<Record<string, string | boolean>>
  readonly type: 'query' | 'mutation'
}

/** Operations of one form. */
export interface Template {
  readonly name: string
  /** What must be on for it: `base` is always. */
  readonly kind: string
  readonly type: Operation['type']
  /** Undefined where the text is drawn too; then no client knows an id for it. */
  readonly text: string | ((random: Random) => string)
  readonly variables?: (random: Random) => Readonly<Record<string, string | boolean>>
}

const bookId = (random: Random): string => String(1 + random.below(4))
const authorId = (random: Random): string => String(1 + random.below(3))
const aBook = (random: Random): { id: string } => ({ id: bookId(random) })

/** How many times the same, by other names. */
const aliases = (count: number, field: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join(' ')

export const TEMPLATES: readonly Template[] = [
  template('Book', 'query Book($id: String!) { book(id: $id) { id title pages } }', aBook),
  template('Kind', 'query Kind($id: String!) { book(id: $id) { __typename title } }', aBook),
  template('Books', 'query Books { books { id title author { name } } }'),
  template('Titles', 'query Titles { books { title } }'),
  template('Authors', 'query Authors { authors { id name } }'),
  template('Author', 'query Author($id: ID!) { author(id: $id) { name email } }', (random) => ({
    id: authorId(random),
  })),
  template(
    'Both',
    'query Both($id: String!, $author: ID!) { book(id: $id) { title author { name } } author(id: $author) { name } }',
    (random) => ({ id: bookId(random), author: authorId(random) }),
  ),
  template(
    'Maybe',
    'query Maybe($id: String!, $with: Boolean!) { book(id: $id) { title pages @include(if: $with) } }',
    (random) => ({ id: bookId(random), with: random.chance(0.5) }),
  ),
  template(
    'Two',
    'query Two { first: book(id: "1") { ...Shown } second: book(id: "2") { ...Shown } } fragment Shown on Book { title pages }',
  ),
  template('Find', 'query Find { findBook(id: "Q-17") { title } }'),
  {
    ...template('Find', ''),
    text: (random) => `{ findBook(id: "Q-${random.below(1e6)}") { title } }`,
  },
  {
    ...template('Literal', ''),
    text: (random) =>
      `{ book(id: "${bookId(random)}") { ${random.pick(['title', 'pages title', 'id title'])} } }`,
  },
  {
    ...template(
      'Deferred',
      'query Deferred($id: String!) { book(id: $id) { id ... @defer { title author { name } } } }',
      aBook,
    ),
    kind: 'defer',
  },
  {
    ...template(
      'DeferredTwice',
      'query DeferredTwice { books { id ... @defer(label: "title") { title } } author(id: "1") { id ... @defer { name } } }',
    ),
    kind: 'defer',
  },
  { ...template('Lang', 'query Lang { lang }'), kind: 'declared' },
  { ...template('Token', 'query Token { token }'), kind: 'undeclared' },
  { ...template('Latest', 'query Latest { latest { id title } eldest { name } }'), kind: 'own' },
  {
    ...template(
      'Entities',
      'query Entities { _entities(representations: [{ __typename: "Book", id: "2" }, { __typename: "Author", id: "1" }]) { __typename ... on Book { title } ... on Author { name } } }',
    ),
    kind: 'federation',
  },
  {
    ...template('Shout', 'query Shout($id: String!) { book(id: $id) { shout author { name } } }', aBook),
    kind: 'own',
  },
]

/** What some features refuse and all else answers. */
export const MANY_ALIASES: Operation = fixed(
  'ManyAliases',
  `query ManyAliases { ${aliases(8, (index) => `author(id: "${1 + (index % 3)}") { id }`)} }`,
)
export const EXPENSIVE: Operation = fixed(
  'Expensive',
  `query Expensive { ${aliases(4, () => 'books { title author { name } }')} }`,
)
/** Under way when the gateway is told to end. */
export const SLOW: Operation = fixed('Slow', 'query Slow { slow }')

export const WATCHED: Operation = fixed(
  'Watched',
  'query Watched { book(id: "1") { id title author { name } } }',
)
export const WATCHED_DEFERRED: Operation = fixed(
  'WatchedDeferred',
  'query WatchedDeferred { book(id: "1") { id ... @defer { title author { name } } } }',
)
export const FIND: Operation = fixed('Find', 'query Find { findBook(id: "Q-17") { title } }')

/** Files, by the source that takes them. */
export const UPLOADS = {
  rest: 'mutation Cover($id: ID!, $file: Upload!) { setCover(id: $id, input: $file) }',
  form: 'mutation Form($id: String!, $file: Upload!) { setForm(id: $id, input: { file: $file }) }',
  grpc: 'mutation Blurb($id: String!, $file: Upload!) { setBlurb(id: $id, data: $file) { digest } }',
} as const

const RENAME_BOOK =
  'mutation RenameBook($id: String!, $title: String!) { renameBook(id: $id, title: $title) { id title } }'
const RENAME_AUTHOR =
  'mutation RenameAuthor($id: ID!, $name: String!) { renameAuthor(id: $id, name: $name) { id name } }'

/** Changes what `WATCHED` shows. */
export const RENAME_WATCHED = (title: string): Operation => ({
  name: 'RenameBook',
  type: 'mutation',
  text: RENAME_BOOK,
  variables: { id: '1', title },
})

/** Writes a text that was never there. */
export function drawMutation(random: Random, text: string): Operation {
  return random.chance(0.6)
    ? {
        name: 'RenameBook',
        type: 'mutation',
        text: RENAME_BOOK,
        variables: { id: bookId(random), title: text },
      }
    : {
        name: 'RenameAuthor',
        type: 'mutation',
        text: RENAME_AUTHOR,
        variables: { id: authorId(random), name: text },
      }
}

/** One of the templates of these kinds; `known`: with an id that clients know. */
export function drawQuery(random: Random, kinds: ReadonlySet<string>, known: boolean): Operation {
  const { name, text, type, variables } = random.pick(
    TEMPLATES.filter(({ kind, text }) => kinds.has(kind) && (!known || typeof text === 'string')),
  )
  return {
    name,
    type,
    text: typeof text === 'string' ? text : text(random),
    ...(variables && { variables: variables(random) }),
  }
}

/** One of each template of these kinds that has an id. */
export function drawEach(random: Random, kinds: ReadonlySet<string>): readonly Operation[] {
  return TEMPLATES.flatMap(({ name, kind, type, text, variables }) =>
    kinds.has(kind) && typeof text === 'string'
      ? [{ name, type, text, ...(variables && { variables: variables(random) }) }]
      : [],
  )
}

/** All texts that a client may name by an id. */
export function knownTexts(kinds: ReadonlySet<string>): readonly string[] {
  const fixedOnes = [MANY_ALIASES, EXPENSIVE, SLOW, WATCHED].map(({ text }) => text)
  const drawn = TEMPLATES.filter(({ kind }) => kinds.has(kind)).flatMap(({ text }) =>
    typeof text === 'string' ? [text] : [],
  )
  return [
    ...fixedOnes,
    ...drawn,
    RENAME_BOOK,
    RENAME_AUTHOR,
    ...(kinds.has('uploads') ? Object.values(UPLOADS) : []),
    ...(kinds.has('defer') ? [WATCHED_DEFERRED.text] : []),
  ]
}

export const idOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function template(name: string, text: string, variables?: Template['variables']): Template {
  return { name, kind: 'base', type: 'query', text, ...(variables && { variables }) }
}

function fixed(name: string, text: string): Operation {
  return { name, type: 'query', text }
}
