import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  getNullableType,
  getOperationAST,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLSchema,
  GraphQLString,
  Kind,
  Lexer,
  parseType,
  print,
  Source,
  TokenKind,
  TypeInfo,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { createRecent, notePlace, type Room } from '../index.ts'
import { documentBytes, ENTRY_BYTES } from './document-room.ts'
import type { OperationParams, PreparedDocument } from './operation.ts'
import { validateInOneWalk } from '../documents/index.ts'

/** Operation of a request with its cached document. */
export interface Asked {
  readonly params: OperationParams
  readonly prepared: PreparedDocument
  /** Parameters that the client sent. `params` differ if variables replace literals. */
  readonly sent: OperationParams
  readonly lifted: LiftedOperation | undefined
}

/** Caches documents by their text without literals. Unused documents are evicted first. */
export interface KnownShapes {
  /** Returns a cached document that differs from the request only in literals. */
  find(params: OperationParams): Asked | undefined
  /** Adds a document. `admits` returns whether the document can be cached. */
  add(
    query: string,
    schema: GraphQLSchema,
    document: DocumentNode,
    admits: (prepared: PreparedDocument) => boolean,
  ): void
  clear(): void
}

const MAX_TEXT = 16_384
/** Maximum number of documents per shape. They differ in the literals that are not replaced. */
const MAX_FORMS = 4

export function createKnownShapes(room: Room): KnownShapes {
  const known = createRecent<readonly LiftedOperation[]>(room)
  /**
   * Shapes that were requested once. Literals are replaced only when a shape is requested for the second
   * time, because documents that are sent once are not reused.
   */
  const seen = createRecent<true>(room)

  function scan(query: string): ScannedText | undefined {
    return query.length <= MAX_TEXT ? scanLiterals(query) : undefined
  }

  function isNew(shape: string): boolean {
    if (seen.get(shape)) return false
    seen.set(shape, true, shape.length + ENTRY_BYTES)
    return true
  }

  return {
    find(sent) {
      const scanned = scan(sent.query)
      const forms = scanned && known.get(scanned.shape)
      if (!scanned || !forms) return undefined
      for (const lifted of forms) {
        const values = isNamed(lifted, sent) ? liftedValues(lifted, scanned) : undefined
        // The names do not conflict, because documents with variables of these names are not lifted.
        const variables = values && { ...sent.variables, ...values }
        const { query, prepared } = lifted
        if (variables) return { params: { query, variables }, prepared, sent, lifted }
      }
      return undefined
    },
    add(query, schema, document, admits) {
      const scanned = scan(query)
      if (!scanned) return
      const forms = known.get(scanned.shape) ?? []
      if (forms.length >= MAX_FORMS || (forms.length === 0 && isNew(scanned.shape))) return
      const lifted = liftLiterals(query, scanned, schema, document)
      if (!lifted || !admits(lifted.prepared)) return
      const all = [...forms, lifted]
      let bytes = 0
      for (const { prepared } of all) bytes += documentBytes(query, prepared.document)
      const place = known.set(scanned.shape, all, bytes)
      for (const { prepared } of all) notePlace(prepared.document, place)
    },
    clear() {
      known.clear()
      seen.clear()
    },
  }
}

/** Returns whether a request selects the operation, which is the only operation of the document. */
function isNamed({ prepared }: LiftedOperation, { operationName }: OperationParams): boolean {
  return operationName == null || operationName === prepared.definition.name?.value
}

/** Converts a literal to the value of a variable. Returns `undefined` if the literal is invalid for the type. */
type ReadLiteral = (literal: Literal) => string | number | undefined

const INTEGER = /^-?\d+$/
const MAX_INT = 2_147_483_647

/**
 * Readers of the built-in scalars. They treat a literal and the value of a variable equally. Custom scalars
 * can treat them differently.
 */
const READERS = new Map<unknown, ReadLiteral>([
  [GraphQLString, ({ kind, raw }) => (kind === 'string' ? raw : undefined)],
  // A number becomes a string without losing digits.
  [GraphQLID, ({ kind, raw }) => (kind === 'string' || INTEGER.test(raw) ? raw : undefined)],
  [
    GraphQLInt,
    ({ kind, raw }) => {
      const value = Number(raw)
      // `-0` is a different number than `0`.
      return kind === 'number' && INTEGER.test(raw) && Math.abs(value) <= MAX_INT && !Object.is(value, -0)
        ? value
        : undefined
    },
  ],
  [
    GraphQLFloat,
    ({ kind, raw }) => {
      const value = Number(raw)
      return kind === 'number' && Number.isFinite(value) && !Object.is(value, -0) ? value : undefined
    },
  ],
])

/** Returns the reader of a type. Returns `undefined` for types whose literals are not replaced. */
function readerOf(type: GraphQLInputType | null | undefined): ReadLiteral | undefined {
  return type ? READERS.get(getNullableType(type)) : undefined
}

/** Decides what happens to one literal of a shape. */
type Place =
  /** The literal becomes the value of a variable. */
  | { readonly name: string; readonly read: ReadLiteral }
  /** The literal stays. Documents share the shape only if they have the same literal. */
  | { readonly raw: string }

/** Operation whose literals are replaced by variables, shared by all documents of one shape. */
interface LiftedOperation {
  readonly prepared: PreparedDocument
  /** Equivalent document with variables. */
  readonly query: string
  /** Text of the original document. The locations of the nodes refer to it. */
  readonly text: string
  readonly places: readonly Place[]
}

const PREFIX = 'lifted_'

/**
 * Replaces literals of a valid document by variables if that does not change the result. It replaces literals
 * of built-in scalars in the arguments of fields, including lists and objects. Literals in directives and
 * default values are not replaced. Returns `undefined` if no literal can be replaced, or if the document
 * would be invalid with other values.
 */
export function liftLiterals(
  text: string,
  { literals }: ScannedText,
  schema: GraphQLSchema,
  document: DocumentNode,
): LiftedOperation | undefined {
  if (!isLiftable(document)) return undefined
  const byStart = new Map(literals.map((literal) => [literal.start, literal]))
  const lifted = new Map<Literal, { readonly name: string; readonly read: ReadLiteral }>()
  const added: VariableDefinitionNode[] = []
  const info = new TypeInfo(schema)

  function lift(node: ASTNode & { readonly value: string }): VariableNode | undefined {
    const type = info.getInputType() as GraphQLInputType | null | undefined
    const read = readerOf(type)
    const literal = byStart.get(node.loc?.start ?? -1)
    if (!read || literal?.raw !== node.value || read(literal) === undefined) return undefined
    const name = `${PREFIX}${lifted.size}`
    const variable: VariableNode = {
      kind: Kind.VARIABLE,
      name: { kind: Kind.NAME, value: name },
      ...(node.loc && { loc: node.loc }),
    }
    lifted.set(literal, { name, read })
    added.push({
      kind: Kind.VARIABLE_DEFINITION,
      variable,
      type: parseType(String(type), { noLocation: true }),
    })
    return variable
  }

  const fields = visit(
    document,
    visitWithTypeInfo(info, {
      VariableDefinition: () => false,
      Directive: () => false,
      StringValue: lift,
      IntValue: lift,
      FloatValue: lift,
    }),
  )
  if (lifted.size === 0) return undefined
  const variables: DocumentNode = {
    ...fields,
    definitions: fields.definitions.map((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION
        ? { ...definition, variableDefinitions: [...(definition.variableDefinitions ?? []), ...added] }
        : definition,
    ),
  }
  if (validateInOneWalk(schema, variables).length > 0) return undefined
  const definition = getOperationAST(variables)
  if (!definition) return undefined
  return {
    prepared: { schema, document: variables, definition, operationName: undefined },
    query: print(variables),
    text,
    places: literals.map((literal) => lifted.get(literal) ?? { raw: literal.raw }),
  }
}

/** Returns whether the document has exactly one operation and no variable whose name has the prefix `lifted_`. */
function isLiftable(document: DocumentNode): boolean {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  let isFree = operations.length === 1 && document.loc !== undefined
  visit(document, {
    Variable({ name }) {
      if (!name.value.startsWith(PREFIX)) return undefined
      isFree = false
      return BREAK
    },
  })
  return isFree
}

/**
 * Returns the values of a document's literals as variables. Returns `undefined` if the document does not
 * match the lifted operation.
 */
function liftedValues(
  { places }: LiftedOperation,
  { literals }: ScannedText,
): Record<string, string | number> | undefined {
  const values: Record<string, string | number> = {}
  for (const [index, literal] of literals.entries()) {
    const place = places[index] as Place
    if ('raw' in place) {
      if (place.raw !== literal.raw) return undefined
      continue
    }
    const value = place.read(literal)
    if (value === undefined) return undefined
    values[place.name] = value
  }
  return values
}

/** Number or string literal in a document. */
interface Literal {
  readonly kind: 'string' | 'number'
  /** Offset of the literal in the document. */
  readonly start: number
  /** Source text of the literal. The quotes of strings are not included. */
  readonly raw: string
}

interface ScannedText {
  /**
   * The document with a mark instead of each literal. Documents that differ only in literals have the same
   * shape.
   */
  readonly shape: string
  readonly literals: readonly Literal[]
}

const STRING = '\u0001'
const NUMBER = '\u0002'
// oxlint-disable-next-line no-control-regex -- clients have no reason to send these characters
const HAS_MARK = /[\u0001\u0002]/
const NUMBER_TOKEN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y
/**
 * Matches strings without escapes, control characters and surrogates. A surrogate pair counts as one or two
 * characters, depending on the code that counts.
 */
// oxlint-disable-next-line no-control-regex -- GraphQL strings do not contain these characters
const PLAIN_STRING = /"([^"\\\u0000-\u001f\ud800-\udfff]*)"/y
const ANY_STRING = /"(?:[^"\\\n\r]|\\.)*"/y
const BLOCK_STRING = /"""(?:[^"\\]|\\"""|\\|"(?!""))*"""/y
/** Maximum number of literals. Replacing more literals has no benefit. */
const MAX_LITERALS = 64

/**
 * Finds the literals of a document in one pass. Returns `undefined` if the document has no literals or too
 * many, or if the text is possibly not a document. Literals that are not plain remain in the shape.
 */
export function scanLiterals(text: string): ScannedText | undefined {
  if (HAS_MARK.test(text)) return undefined
  const literals: Literal[] = []
  let shape = ''
  let copied = 0
  let at = 0

  function take(kind: Literal['kind'], raw: string, length: number): void {
    literals.push({ kind, start: at, raw })
    shape += text.slice(copied, at) + (kind === 'string' ? STRING : NUMBER)
    copied = at + length
  }

  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isNameStart(code)) {
      do at++
      while (isNameStart(text.charCodeAt(at)) || isDigit(text.charCodeAt(at)))
    } else if (code === QUOTE) {
      const isBlock = text.startsWith('"""', at)
      const plain = isBlock ? undefined : match(PLAIN_STRING, text, at)
      const found = plain ?? match(isBlock ? BLOCK_STRING : ANY_STRING, text, at)
      if (!found) return undefined
      if (plain) take('string', plain[1] as string, plain[0].length)
      at += found[0].length
    } else if (isDigit(code) || code === MINUS) {
      const found = match(NUMBER_TOKEN, text, at)
      if (!found) return undefined
      take('number', found[0], found[0].length)
      at += found[0].length
    } else if (code === HASH) {
      while (at < text.length && text.charCodeAt(at) !== LINE_FEED && text.charCodeAt(at) !== RETURN) at++
    } else at++
  }
  if (literals.length === 0 || literals.length > MAX_LITERALS) return undefined
  return { shape: shape + text.slice(copied), literals }
}

const QUOTE = 0x22
const HASH = 0x23
const MINUS = 0x2d
const LINE_FEED = 0x0a
const RETURN = 0x0d

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isNameStart(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/**
 * Returns errors with the positions in the document that the client sent. Each token of this document
 * corresponds to one token of the lifted document.
 */
export function errorsIn(errors: readonly unknown[], sent: string, liftedText: string): readonly unknown[] {
  const [from, to] = [startsOf(liftedText), startsOf(sent)]
  const source = new Source(sent)
  return errors.map((error) => {
    if (!(error instanceof GraphQLError) || error.source?.body !== liftedText) return error
    const positions = error.positions?.map((position) => to[from.indexOf(position)] ?? 0)
    const { message, path, originalError, extensions, stack } = error
    const moved = new GraphQLError(message, { source, positions, path, originalError, extensions })
    return Object.defineProperty(moved, 'stack', { value: stack, writable: true, configurable: true })
  })
}

/** Lists the positions at which the tokens of a document begin. */
function startsOf(text: string): number[] {
  const lexer = new Lexer(new Source(text))
  const starts: number[] = []
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance())
    starts.push(token.start)
  return starts
}
