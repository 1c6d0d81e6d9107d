import type { Difference } from './differences.ts'

/** The document of one generator, and what is particular about it. */
export interface Generator {
  /** The name of the file in `documents`. */
  readonly name: string
  /** The fields that its operations become: list, add, get, remove and cover. */
  readonly fields: readonly [string, string, string, string, string]
  readonly differences: readonly Difference[]
  /** The members of `Item`; null: the document says nothing of them. */
  readonly members?: readonly [string, string] | null
  /** Behind each path. */
  readonly slash?: '/'
  /** What a page of the list is called. */
  readonly page?: Readonly<Record<'items' | 'total', string>>
}

const own = ['listItems', 'addBook', 'getItem', 'removeItem', 'putCover'] as const

const named: Difference = {
  reason: 'an object within another is a class of its own',
  types: { 'Book.size': 'Size' },
  without: ['BookSize'],
  with: 'type Size { height: Float width: Float }',
}

const enumOf = (name: string): string => `enum ${name} { E_BOOK HARDCOVER }`

const listed: Difference = {
  reason: 'an enum has no name of its own: each place has its own',
  types: {
    'Book.format': 'BookFormat',
    'NewBookInput.format': 'NewBookFormat',
    'Query.listItems(format:)': 'ListItemsFormat',
  },
  without: ['Format'],
  with: ['BookFormat', 'NewBookFormat', 'ListItemsFormat'].map(enumOf).join(' '),
}

const inherited: Difference = {
  reason: 'the members are made of a base, whose kind is text, and which stands for kinds that are newer',
  types: { 'Book.kind': 'String', 'Film.kind': 'String', 'Item.kind': 'String' },
  without: ['BookKind', 'FilmKind'],
  with: 'type ItemBase implements Item { id: Long kind: String title: String }',
}

const book = (kind: string, interfaces = ''): string => `type ${interfaces} {
  added: DateTime format: Format id: Long ${kind} labels: [StringEntry!] maker: Maker pages: Int price: Float
  published: Date size: Size subtitle: String tags: [String] title: String
}`

const tagged: Difference = {
  reason: 'a member of the union is another schema than the book that is added, which has no kind',
  without: ['Film', 'FilmKind', 'BookKind'],
  with: `${book('', 'Book')} ${book('kind: ItemBookKind', 'ItemBook implements Item')}
    type ItemFilm implements Item { id: Long kind: ItemFilmKind minutes: Int title: String }
    enum ItemBookKind { BOOK } enum ItemFilmKind { FILM }`,
}

const unnamedUnion: Difference = {
  reason: 'a union has no name of its own: each place has its own',
  types: { 'ItemPage.items': '[ItemPageItems]', 'Query.getItem': 'GetItem' },
  without: ['Item'],
  with: `interface GetItem { id: Long title: String } interface ItemPageItems { id: Long title: String }
    type Book implements GetItem & ItemPageItems {
      added: DateTime format: Format id: Long kind: BookKind labels: [StringEntry!] maker: Maker pages: Int
      price: Float published: Date size: BookSize subtitle: String tags: [String] title: String
    }
    type Film implements GetItem & ItemPageItems { id: Long kind: FilmKind minutes: Int title: String }`,
}

const form = (name: string): Difference => ({
  reason: 'the form is a class of its own',
  types: { 'Mutation.putCover(input:)': `${name}!` },
  without: ['PutCoverInput'],
  with: `input ${name} { caption: String file: Upload! }`,
})

const bodyLeftOut: Difference = {
  reason: 'a form is not said to be required',
  types: { 'Mutation.putCover(input:)': 'PutCoverInput' },
}

const fileLeftOut: Difference = {
  reason: 'a file is not said to be required',
  types: { ...bodyLeftOut.types, 'PutCoverInput.file': 'Upload' },
}

const snake = ['listItems', 'addBook', 'getItem', 'removeItem', 'putCover'] as const
const controller = (name: string): Generator['fields'] =>
  own.map((field) => `${name}${field[0]?.toUpperCase()}${field.slice(1)}`) as unknown as Generator['fields']

export const generators: readonly Generator[] = [
  { name: 'hono', fields: own, differences: [] },
  { name: 'zod-to-openapi', fields: own, differences: [] },
  {
    name: 'fastapi',
    fields: [
      'listItemsItemsGet',
      'addBookItemsPost',
      'getItemItemsIdGet',
      'removeItemItemsIdDelete',
      'putCoverItemsIdCoverPut',
    ],
    differences: [
      unnamedUnion,
      named,
      form('BodyPutCoverItemsIdCoverPutInput'),
      {
        reason: 'Python has integers of any size',
        types: {
          'Book.pages': 'Long',
          'Film.minutes': 'Long',
          'NewBookInput.pages': 'Long',
          'Query.listItems(page:)': 'Long = 1',
        },
      },
    ],
  },
  {
    name: 'nestjs',
    fields: controller('itemsController'),
    differences: [unnamedUnion, named, form('CoverUploadInput')],
  },
  {
    name: 'utoipa',
    fields: snake,
    members: ['ItemBook', 'ItemFilm'],
    differences: [named, tagged, form('CoverFormInput')],
  },
  {
    name: 'schemars',
    fields: snake,
    members: ['ItemBook', 'ItemFilm'],
    differences: [
      named,
      tagged,
      {
        reason: 'the struct of the book says its kind, too',
        types: { 'Book.kind': 'BookKind' },
        with: 'enum BookKind { BOOK }',
      },
    ],
  },
  { name: 'springdoc', fields: own, differences: [named, listed, inherited, bodyLeftOut] },
  { name: 'nswag', fields: controller('items'), differences: [named, inherited, fileLeftOut] },
  ...['aspnetcore', 'aspnetcore-3.0'].map((name): Generator => ({
    name,
    fields: own,
    members: ['ItemBook', 'ItemFilm'],
    differences: [named, tagged],
  })),
  {
    name: 'swashbuckle',
    fields: ['getItems', 'postItems', 'getItemsById', 'deleteItemsById', 'putItemsByIdCover'],
    differences: [
      named,
      inherited,
      fileLeftOut,
      {
        reason: 'a body is not said to be required',
        types: { 'Mutation.addBook(input:)': 'NewBookInput' },
      },
    ],
  },
  {
    name: 'drf-spectacular',
    fields: ['itemsList', 'itemsCreate', 'itemsRetrieve', 'itemsDestroy', 'itemsCoverUpdate'],
    slash: '/',
    page: { items: 'results', total: 'count' },
    differences: [
      named,
      listed,
      form('CoverUploadInput'),
      {
        reason: 'a choice may be blank, which is an enum beside the other',
        with: `enum BookFormat { EMPTY E_BOOK HARDCOVER } enum NewBookFormat { EMPTY E_BOOK HARDCOVER }`,
      },
      {
        reason: 'enums are called so',
        types: { 'Book.kind': 'BookKindEnum', 'Film.kind': 'FilmKindEnum' },
        without: ['BookKind', 'FilmKind'],
        with: 'enum BookKindEnum { BOOK } enum FilmKindEnum { FILM }',
      },
      {
        reason: 'the framework has a page of its own',
        types: { 'Query.listItems': 'PaginatedItemList', 'Query.listItems(page:)': 'Long' },
        without: ['ItemPage'],
        with: 'type PaginatedItemList { count: Long next: URI previous: URI results: [Item] }',
      },
    ],
  },
  {
    name: 'huma',
    fields: own,
    differences: [
      named,
      listed,
      {
        reason: 'each object tells the address of its schema',
        types: { 'Book.schema': 'URI', 'Cover.schema': 'URI', 'ItemPage.schema': 'URI' },
      },
    ],
  },
  {
    name: 'swag',
    fields: ['getItems', 'postItems', 'getItemsById', 'deleteItemsById', 'putItemsByIdCover'],
    members: null,
    differences: [
      {
        reason: 'an interface of Go has no schema',
        types: { 'ItemPage.items': '[JSON]', 'Query.getItem': 'JSON', 'Book.kind': 'String' },
        without: ['Item', 'Film', 'FilmKind', 'BookKind'],
        with: `${book('kind: String', 'Book').replace('size: Size', 'size: BookSize')}
          scalar JSON @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc8259")`,
      },
      {
        reason: 'the enum of a parameter has no name',
        types: { 'Query.listItems(format:)': 'ListItemsFormat' },
        with: enumOf('ListItemsFormat'),
      },
    ],
  },
  { name: 'go-swagger', fields: own, differences: [listed, inherited] },
]
