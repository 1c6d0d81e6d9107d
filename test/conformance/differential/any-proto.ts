import * as fc from 'fast-check'

/** Text by the names of files, which import each other. */
export type AnyFiles = Readonly<Record<string, string>>

/** Few, so that the same name stands in several scopes; words of the language are names too. */
const names = fc.constantFrom(
  'A',
  'B',
  'C',
  'a',
  'b',
  'message',
  'string',
  'google',
  'optional_b',
  'reserved',
)
/** `$` and `#` become a name and a number of their own in the message that they stand in. */
const fieldNames = fc.oneof(
  { weight: 15, arbitrary: fc.constant('f$') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'a',
      'b',
      'c_d',
      'cD',
      'message',
      'rpc',
      'repeated',
      'max',
      'e1',
      'string',
      'A',
    ),
  },
)
const scalars = fc.constantFrom(
  ...'double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes'.split(
    ' ',
  ),
)
const KEYS = ['int32', 'int64', 'uint64', 'sint32', 'fixed64', 'bool', 'string']
const typeNames = fc
  .tuple(
    fc.constantFrom('', '', '', '.', '.p.', 'p.', '.p.q.', 'q.'),
    fc.array(names, { minLength: 1, maxLength: 2 }),
  )
  .map(([scope, parts]) => scope + parts.join('.'))
const types = fc.oneof({ weight: 8, arbitrary: scalars }, { weight: 1, arbitrary: typeNames })
const space = fc.constantFrom(' ', ' ', ' ', '\n', '\t', ' /* a } b */ ', ' // c {\n', '\r\n')
const numbers = fc.oneof(
  { weight: 30, arbitrary: fc.constant('#') },
  fc.integer({ min: 1, max: 12 }).map(String),
  fc.constantFrom('0x1F', '017', '536870911', '19000', '18999', '0'),
)

/** Gives names and numbers to what asks for some of its own. */
function numbered(text: string): string {
  let [name, number] = [0, 0]
  return text.replaceAll(/[$#]/g, (mark) => String(mark === '$' ? name++ : ++number))
}

/** What an element declares; others are as many as they want to be. */
function declared(element: string, index = 0): string {
  return (
    /^(?:message|enum|service|optional group)\s(?:\/\*.*?\*\/|\/\/.*\n|\s)*(\w+)/.exec(element)?.[1] ??
    `${element} ${index}`
  )
}

type Syntax = 'proto2' | 'proto3'

const textsOf = {
  proto2: ['optional', 'required', 'repeated'],
  proto3: ['', '', 'optional', 'repeated'],
} as const

function field(syntax: Syntax, isBare = false): fc.Arbitrary<string> {
  const label = isBare ? fc.constant('') : fc.constantFrom<string>(...textsOf[syntax])
  const option = fc.oneof(
    { weight: 12, arbitrary: fc.constant('') },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '[deprecated = true]',
        '[json_name = "z$"]',
        '[deprecated = false, json_name = \'y\' "x$"]',
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '[packed = true]',
        '[default = 1]',
        '[default = -0x10]',
        '[default = "a\\n\\x41\\101"]',
        '[default = inf]',
        '[default = -nan]',
        '[default = 1.5e3]',
        '[default = true]',
      ),
    },
  )
  return fc
    .tuple(label, types, fieldNames, numbers, option, space)
    .map(
      ([label, type, name, number, option, gap]) =>
        `${label}${gap}${type}${gap}${name} =${gap}${number} ${option};`,
    )
}

const mapField = fc
  .tuple(fc.constantFrom(...KEYS, 'float', 'A'), types, fieldNames, numbers)
  .map(([key, value, name, number]) => `map<${key}, ${value}> ${name} = ${number};`)

const reserved = fc.constantFrom(
  'reserved 12;',
  'reserved 13, 15 to 17;',
  'reserved 100 to max;',
  'reserved "a";',
  'reserved "c_d", "b";',
)

function enumOf(syntax: Syntax): fc.Arbitrary<string> {
  const value = fc.tuple(
    fc.constantFrom('X', 'Y', 'Z', 'E_X', 'A'),
    fc.constantFrom('0', '1', '-1', '0x2', '2147483647'),
  )
  return fc
    .tuple(
      names,
      fc.array(value, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', '', 'option allow_alias = true;', 'reserved 4 to max;'),
    )
    .map(([name, values, more]) => {
      const first = syntax === 'proto3' ? 'ZERO = 0; ' : ''
      return `enum ${name} { ${more} ${first}${values.map((pair) => pair.join(' = ')).join('; ')}; }`
    })
}

function members(syntax: Syntax, depth: number): fc.Arbitrary<string> {
  const oneof = fc
    .tuple(fieldNames, fc.array(field(syntax, true), { minLength: 1, maxLength: 3 }))
    .map(([name, fields]) => `oneof ${name} { ${fields.join(' ')} }`)
  const usual: fc.WeightedArbitrary<string>[] = [
    { weight: 6, arbitrary: field(syntax) },
    { weight: 1, arbitrary: mapField },
    { weight: 1, arbitrary: oneof },
    { weight: 1, arbitrary: reserved },
    { weight: 1, arbitrary: fc.constantFrom('option deprecated = true;', ';') },
    { weight: 1, arbitrary: enumOf(syntax) },
  ]
  const deeper = depth > 0 ? [{ weight: 2, arbitrary: messageOf(syntax, depth - 1) }] : []
  const old: fc.WeightedArbitrary<string>[] = [
    { weight: 1, arbitrary: fc.constantFrom('extensions 100 to 199;', 'extensions 50, 1000 to max;') },
    {
      weight: 1,
      arbitrary: fc
        .tuple(names, numbers)
        .map(([name, number]) => `optional group ${name} = ${number} { optional int32 own = 1; }`),
    },
    { weight: 1, arbitrary: typeNames.map((type) => `extend ${type} { optional int32 more = 150; }`) },
  ]
  return fc.oneof(...usual, ...deeper, ...(syntax === 'proto2' ? old : []))
}

function messageOf(syntax: Syntax, depth: number): fc.Arbitrary<string> {
  return fc
    .tuple(
      names,
      fc.uniqueArray(members(syntax, depth), { maxLength: 5, selector: (element) => declared(element) }),
      space,
    )
    .map(([name, all, gap]) => numbered(`message${gap}${name}${gap}{${gap}${all.join(gap)}}`))
}

const service = fc
  .tuple(
    names,
    fc.array(fc.tuple(fieldNames, typeNames, typeNames, fc.boolean(), fc.boolean()), { maxLength: 2 }),
  )
  .map(([name, methods]) => {
    const texts = methods.map(
      ([method, input, output, isOpen, streams], index) =>
        `rpc ${method}(${isOpen ? 'stream ' : ''}${input}) returns (${streams ? 'stream ' : ''}${output})${index > 0 ? ' { option deprecated = true; }' : ';'}`,
    )
    return numbered(`service S${name} { ${texts.join(' ')} }`)
  })

function fileOf(syntax: Syntax, imports: string): fc.Arbitrary<string> {
  const elements = fc.oneof(
    { weight: 4, arbitrary: messageOf(syntax, 2) },
    { weight: 1, arbitrary: enumOf(syntax) },
    { weight: 1, arbitrary: service },
    {
      weight: 1,
      arbitrary: fc.constantFrom('option java_package = "x.y";', 'option optimize_for = SPEED;', ';'),
    },
  )
  return fc
    .tuple(
      fc.constantFrom('', 'package p;', 'package p.q;', 'package google;'),
      fc.uniqueArray(elements, { minLength: 1, maxLength: 5, selector: (element) => declared(element) }),
      space,
    )
    .map(([scope, all, gap]) => `syntax = "${syntax}";${gap}${scope}${gap}${imports}${gap}${all.join('\n')}`)
}

const syntaxes = fc.constantFrom<Syntax>('proto2', 'proto3')

/** One file, or one that imports another. */
export const anyFiles: fc.Arbitrary<AnyFiles> = fc.oneof(
  syntaxes.chain((syntax) => fileOf(syntax, '')).map((text) => ({ 'm.proto': text })),
  fc
    .tuple(
      syntaxes.chain((syntax) => fileOf(syntax, '')),
      fc
        .tuple(
          syntaxes,
          fc.constantFrom(
            'import "m.proto";',
            'import public "m.proto";',
            'import "google/protobuf/any.proto"; import "m.proto";',
          ),
        )
        .chain(([syntax, imports]) => fileOf(syntax, imports)),
    )
    .map(([m, n]) => ({ 'm.proto': m, 'n.proto': n })),
)
