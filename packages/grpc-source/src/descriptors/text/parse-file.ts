import { create } from '@bufbuild/protobuf'
import {
  Edition,
  FileDescriptorProtoSchema,
  SourceCodeInfoSchema,
  type FileDescriptorProto,
  MethodDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
  type MethodDescriptorProto,
  type ServiceDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import {
  keepOptions,
  type ParseContext,
  type Place,
  type TypeReference,
  type UninterpretedOptions,
  inScope,
  keepComments,
} from './context.ts'
import { readOption, type WrittenOption, readBlock } from './option-text.ts'
import { parseEnum } from './parse-enum.ts'
import { parseExtend, parseGroup, parseMessage, skipVisibility } from './parse-message.ts'
import { TokenReader } from './token-reader.ts'
import { ProtoSyntaxError, type Token } from './tokens.ts'
import { SCALARS } from './parse-field.ts'

/** Reads `service Name { … }`. */
function parseService(
  context: ParseContext,
  packageName: string,
  path: readonly number[],
): ServiceDescriptorProto {
  const { tokens } = context
  const from = tokens.expect('service')
  const at = tokens.peek()
  const proto = create(ServiceDescriptorProtoSchema, { name: tokens.name("the service's name") })
  context.places.set(proto, { name: at })
  const fullName = inScope(packageName, proto.name)
  keepComments(context, path, from, tokens.expect('{'))
  const entries = readBlock(tokens, () => {
    if (!tokens.looksAt('rpc')) throw tokens.unexpected('"rpc", "option" or "}"')
    proto.method.push(parseMethod(context, fullName, [...path, 2, proto.method.length]))
  })
  keepOptions(context, { target: proto, kind: 'service', scope: packageName, element: fullName, entries })
  return proto
}

function parseMethod(
  context: ParseContext,
  serviceName: string,
  path: readonly number[],
): MethodDescriptorProto {
  const { tokens, file, references } = context
  const from = tokens.expect('rpc')
  const at = tokens.peek()
  const proto = create(MethodDescriptorProtoSchema, { name: tokens.name("the method's name") })
  context.places.set(proto, { name: at })
  const element = `${serviceName}.${proto.name}`
  const side = (apply: (fullName: string) => void): boolean => {
    tokens.expect('(')
    const isStream = tokens.skip('stream')
    const typeAt = tokens.peek()
    const name = tokens.dottedName("a message's name")
    if (SCALARS.has(name)) {
      throw new ProtoSyntaxError(
        typeAt,
        `${element} uses ${name} as its request or response type, which must be a message; define a message with a ${name} field, and use that message`,
      )
    }
    references.push({ file, scope: serviceName, element, name, at: typeAt, wants: 'message', resolve: apply })
    tokens.expect(')')
    return isStream
  }
  proto.clientStreaming = side((name) => (proto.inputType = `.${name}`))
  tokens.expect('returns')
  proto.serverStreaming = side((name) => (proto.outputType = `.${name}`))
  const head = tokens.peek()
  const hasBlock = !tokens.skip(';') && tokens.expect('{')
  const entries = hasBlock ? readBlock(tokens, () => void tokens.expect('option')) : []
  keepComments(context, path, from, head)
  keepOptions(context, { target: proto, kind: 'method', scope: serviceName, element, entries })
  return proto
}

export interface ParsedProto {
  readonly file: FileDescriptorProto
  /** The options as written: custom ones can be read once every extension is known. */
  readonly options: readonly UninterpretedOptions[]
  readonly places: ReadonlyMap<object, Place>
  /** The place of each import, by its path as written. */
  readonly imports: ReadonlyMap<string, Import>
}

export interface Import {
  readonly at: Token
  /** Whether files that import this one see what it imports. */
  readonly isPublic: boolean
}

const EDITIONS: ReadonlyMap<string, Edition> = new Map([
  ['2023', Edition.EDITION_2023],
  ['2024', Edition.EDITION_2024],
])

/**
 * Reads one `.proto` text into the descriptor that a protobuf compiler would give: proto2, proto3 and editions.
 * Types are names still; what they refer to is added to `references`.
 * @throws ProtoSyntaxError with line and column
 * @see https://protobuf.dev/reference/protobuf/edition-2023-spec/
 */
export function parseFile(name: string, text: string, references: TypeReference[]): ParsedProto {
  const tokens = new TokenReader(text)
  const file = create(FileDescriptorProtoSchema, { name })
  readSyntax(tokens, file)
  const context: ParseContext = {
    file: name,
    syntax: file.syntax,
    edition: file.edition,
    tokens,
    references,
    options: [],
    places: new Map(),
    locations: [],
  }
  const entries: WrittenOption[] = []
  const imports = new Map<string, Import>()
  const packageAt = readPackage(tokens, file)

  function parseStatement(): void {
    const keyword = tokens.peek().kind === 'name' ? tokens.peek().text : ''
    switch (keyword) {
      case 'package':
        if (tokens.peek() !== packageAt)
          throw new ProtoSyntaxError(
            tokens.peek(),
            `the file already has the package "${file.package}"; remove this second package statement`,
          )
        tokens.next()
        tokens.dottedName("the package's name")
        tokens.expect(';')
        return
      case 'import':
        parseImport(context, file, imports)
        return
      case 'option':
        tokens.next()
        entries.push(readOption(tokens))
        tokens.expect(';')
        return
      case 'message':
        file.messageType.push(parseMessage(context, file.package, [4, file.messageType.length]))
        return
      case 'enum':
        file.enumType.push(parseEnum(context, file.package, [5, file.enumType.length]))
        return
      case 'service':
        file.service.push(parseService(context, file.package, [6, file.service.length]))
        return
      case 'extend':
        parseExtend(context, {
          kind: 'extend',
          scope: file.package,
          fields: file.extension,
          path: [7],
          addGroup: (name, at) =>
            parseGroup(context, { name, at, scope: file.package, path: [4], into: file.messageType }),
        })
        return
      case 'syntax':
      case 'edition':
        throw new ProtoSyntaxError(
          tokens.peek(),
          `"${keyword}" must be the first statement of the file; move it to the top, or remove it if the file already starts with "syntax" or "edition"`,
        )
      default:
        throw tokens.unexpected('"message", "enum", "service", "extend", "import", "option" or "package"')
    }
  }

  while (tokens.peek().kind !== 'end') {
    if (tokens.skip(';')) continue
    skipVisibility(context)
    parseStatement()
  }
  keepOptions(context, { target: file, kind: 'file', scope: file.package, element: name, entries })
  file.sourceCodeInfo = create(SourceCodeInfoSchema, { location: context.locations })
  return { file, options: context.options, places: context.places, imports }
}

function readSyntax(tokens: TokenReader, file: FileDescriptorProto): void {
  if (tokens.skip('syntax')) {
    tokens.expect('=')
    const at = tokens.peek()
    const syntax = tokens.string('"proto2" or "proto3"')
    if (syntax !== 'proto2' && syntax !== 'proto3')
      throw new ProtoSyntaxError(at, `expected syntax "proto2" or "proto3", found "${syntax}"`)
    // Absent means proto2, and compilers leave it so.
    file.syntax = syntax === 'proto3' ? syntax : ''
    tokens.expect(';')
  } else if (tokens.skip('edition')) {
    tokens.expect('=')
    const at = tokens.peek()
    const written = tokens.string('an edition')
    const edition = EDITIONS.get(written)
    if (edition === undefined)
      throw new ProtoSyntaxError(
        at,
        `unknown edition "${written}"; the supported editions are ${[...EDITIONS.keys()].join(', ')}`,
      )
    file.syntax = 'editions'
    file.edition = edition
    tokens.expect(';')
  }
}

/** Gives a file its package, which may stand behind what it holds for, and returns where it stands. */
function readPackage(tokens: TokenReader, file: FileDescriptorProto): Token | undefined {
  for (let ahead = 0, depth = 0; tokens.peek(ahead).kind !== 'end'; ahead += 1) {
    if (tokens.looksAt('{', ahead)) depth += 1
    else if (tokens.looksAt('}', ahead)) depth -= 1
    else if (depth === 0 && tokens.looksAt('package', ahead) && isBeginning(tokens, ahead)) {
      for (let part = ahead + 1; isOfName(tokens.peek(part)); part += 1)
        file.package += tokens.peek(part).text
      return tokens.peek(ahead)
    }
  }
  return undefined
}

function isBeginning(tokens: TokenReader, ahead: number): boolean {
  return ahead === 0 || tokens.looksAt(';', ahead - 1) || tokens.looksAt('}', ahead - 1)
}

function isOfName({ kind, text }: Token): boolean {
  return kind === 'name' || text === '.'
}

function parseImport(
  { tokens }: ParseContext,
  file: FileDescriptorProto,
  imports: Map<string, Import>,
): void {
  tokens.expect('import')
  const isPublic = tokens.skip('public')
  // A file of `import option` serves options alone, and those that are read are known by number.
  if (!isPublic && !tokens.skip('weak')) tokens.skip('option')
  const at = tokens.peek()
  const path = tokens.string("a file's path")
  if (imports.has(path))
    throw new ProtoSyntaxError(at, `the file imports "${path}" twice; remove one of the imports`)
  imports.set(path, { at, isPublic })
  file.dependency.push(path)
  tokens.expect(';')
}
