import { create } from '@bufbuild/protobuf'
import {
  Edition,
  FileDescriptorProtoSchema,
  SourceCodeInfoSchema,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { keepOptions, type ParseContext, type TypeReference, type UninterpretedOptions } from './context.ts'
import { readOption, type WrittenOption } from './option-text.ts'
import { parseEnum } from './parse-enum.ts'
import { parseExtend, parseMessage, skipVisibility } from './parse-message.ts'
import { parseService } from './parse-service.ts'
import { TokenReader } from './token-reader.ts'
import { ProtoSyntaxError } from './tokens.ts'

export interface ParsedProto {
  readonly file: FileDescriptorProto
  /** The options as written: custom ones can be read once every extension is known. */
  readonly options: readonly UninterpretedOptions[]
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
    tokens,
    references,
    options: [],
    locations: [],
  }
  const entries: WrittenOption[] = []
  while (tokens.peek().kind !== 'end') {
    if (tokens.skip(';')) continue
    skipVisibility(context)
    parseStatement(context, file, entries)
  }
  keepOptions(context, { target: file, kind: 'file', scope: file.package, element: name, entries })
  file.sourceCodeInfo = create(SourceCodeInfoSchema, { location: context.locations })
  return { file, options: context.options }
}

function readSyntax(tokens: TokenReader, file: FileDescriptorProto): void {
  const at = tokens.peek()
  if (tokens.skip('syntax')) {
    tokens.expect('=')
    const syntax = tokens.string('"proto2" or "proto3"')
    if (syntax !== 'proto2' && syntax !== 'proto3')
      throw new ProtoSyntaxError(at, `expected syntax "proto2" or "proto3", found "${syntax}"`)
    // Absent means proto2, and compilers leave it so.
    file.syntax = syntax === 'proto3' ? syntax : ''
    tokens.expect(';')
  } else if (tokens.skip('edition')) {
    tokens.expect('=')
    const written = tokens.string('an edition')
    const edition = EDITIONS.get(written)
    if (edition === undefined)
      throw new ProtoSyntaxError(
        at,
        `edition "${written}" is not known, only ${[...EDITIONS.keys()].join(', ')}`,
      )
    file.syntax = 'editions'
    file.edition = edition
    tokens.expect(';')
  }
}

function parseStatement(context: ParseContext, file: FileDescriptorProto, entries: WrittenOption[]): void {
  const { tokens } = context
  const keyword = tokens.peek().kind === 'name' ? tokens.peek().text : ''
  switch (keyword) {
    case 'package':
      tokens.next()
      file.package = tokens.dottedName("the package's name")
      tokens.expect(';')
      return
    case 'import':
      tokens.next()
      // A file of `import option` serves options alone, and those that are read are known by number.
      if (!tokens.skip('public') && !tokens.skip('weak')) tokens.skip('option')
      file.dependency.push(tokens.string("a file's path"))
      tokens.expect(';')
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
        scope: file.package,
        fields: file.extension,
        path: [7],
        addGroup() {
          throw tokens.unexpected('no group outside of a message')
        },
      })
      return
    default:
      throw tokens.unexpected('"message", "enum", "service", "extend", "import", "option" or "package"')
  }
}
