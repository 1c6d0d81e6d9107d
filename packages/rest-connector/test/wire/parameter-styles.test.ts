import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { parse } from 'qs'
import { parseTemplate as parseUriTemplate } from 'url-template'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector, type RestEndpoint } from '../../src/index.ts'
import type { ParameterOptions } from '../../src/parameters/parameter-options.ts'
import type { ParameterStyle } from '../../src/parameters/parameter-options.ts'
import { compileStyle } from '../../src/parameters/style.ts'
import { compileQuery } from '../../src/templates/query-template.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
const backend = cleanup.use(await startRestBackend())

const empty = ''
const text = 'blue'
const list = ['blue', 'black', 'brown']
const object = { R: 100, G: 200, B: 150 }
const none = undefined

/** The table under "Style Examples" of OpenAPI 3.2, row by row; `none` where it has "n/a". */
const TABLE: [ParameterStyle, boolean, (string | undefined)[]][] = [
  ['matrix', false, [';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150']],
  ['matrix', true, [';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150']],
  ['label', false, [none, '.blue', '.blue,black,brown', '.R,100,G,200,B,150']],
  ['label', true, [none, '.blue', '.blue.black.brown', '.R=100.G=200.B=150']],
  ['simple', false, [none, 'blue', 'blue,black,brown', 'R,100,G,200,B,150']],
  ['simple', true, [none, 'blue', 'blue,black,brown', 'R=100,G=200,B=150']],
  ['form', false, ['color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150']],
  ['form', true, ['color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150']],
  ['spaceDelimited', false, [none, none, 'color=blue%20black%20brown', 'color=R%20100%20G%20200%20B%20150']],
  ['pipeDelimited', false, [none, none, 'color=blue%7Cblack%7Cbrown', 'color=R%7C100%7CG%7C200%7CB%7C150']],
  ['deepObject', true, [none, none, none, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150']],
  ['cookie', false, ['color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150']],
  ['cookie', true, ['color=', 'color=blue', 'color=blue; color=black; color=brown', 'R=100; G=200; B=150']],
]
const PLACES = { matrix: 'path', label: 'path', simple: 'path', cookie: 'cookie' } as const

const rows = TABLE.flatMap(([style, explode, expected]) =>
  (
    [
      ['empty', empty],
      ['text', text],
      ['list', list],
      ['object', object],
    ] as const
  ).flatMap(([kind, value], index) => {
    const sent = expected[index]
    return sent === undefined ? [] : [{ style, explode, kind, value, sent }]
  }),
)

async function sentFor(parameter: Omit<ParameterOptions, 'name'>, value: unknown) {
  const path = parameter.in === 'path' ? '/x/{color}' : '/x'
  const connector = createRestConnector('c', {
    baseUrl: backend.url,
    endpoints: [{ name: 'x', path, args: { color: 'JSON' }, parameters: [{ name: 'color', ...parameter }] }],
  })
  await connector.execute('x', { color: value })
  await connector.close()
  const request = backend.requests.at(-1)
  return { url: request?.rawUrl, color: request?.headers['color'], cookie: request?.headers['cookie'] }
}

describe('a parameter is written as the table of the OpenAPI specification says', () => {
  it.each(rows)('$style, explode $explode, $kind: $sent', async ({ style, explode, value, sent }) => {
    const place = style in PLACES ? PLACES[style as keyof typeof PLACES] : 'query'
    const { url, cookie } = await sentFor({ in: place, style, explode }, value)
    const seen = place === 'cookie' ? `/x?${cookie}` : url
    expect(seen).toBe(place === 'path' ? `/x/${sent}` : `/x?${sent}`)
  })

  it.each([
    [false, list, 'blue,black,brown'],
    [true, list, 'blue,black,brown'],
    [false, object, 'R,100,G,200,B,150'],
    [true, object, 'R=100,G=200,B=150'],
    [false, 'a, b%20é', 'a, b%20\u00e9'],
  ])('header, explode %s: %j', async (explode, value, sent) => {
    expect((await sentFor({ in: 'header', explode }, value)).color).toBe(sent)
  })

  it('has the defaults of the specification', async () => {
    expect((await sentFor({ in: 'path' }, object)).url).toBe('/x/R,100,G,200,B,150')
    expect((await sentFor({ in: 'query' }, list)).url).toBe('/x?color=blue&color=black&color=brown')
    expect((await sentFor({ in: 'cookie' }, list)).cookie).toBe('color=blue; color=black; color=brown')
  })

  it('writes what has a media type as one text', async () => {
    const json = '{"R":100,"é":["\u{1F600}"]}'
    const value = JSON.parse(json) as unknown
    const content = 'application/json'
    expect((await sentFor({ in: 'query', content }, value)).url).toBe(`/x?color=${encodeURIComponent(json)}`)
    expect((await sentFor({ in: 'path', content }, value)).url).toBe(`/x/${encodeURIComponent(json)}`)
    expect((await sentFor({ in: 'cookie', content }, value)).cookie).toBe(`color=${encodeURIComponent(json)}`)
    const header = (await sentFor({ in: 'header', content }, value)).color
    expect(header).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(String(header))).toEqual(value)
  })

  it('sends nothing for what is absent, null or without members', async () => {
    for (const value of [undefined, null, [], {}, [null]])
      for (const place of ['query', 'header', 'cookie'] as const)
        expect(await sentFor({ in: place }, value)).toEqual({
          url: '/x',
          color: undefined,
          cookie: undefined,
        })
  })
})

function resultOf(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return (error as Error).message
  }
}

const anyText = fc.string({ unit: 'grapheme' })
const word = fc.string({ minLength: 1, unit: 'grapheme' })
const anyObject = fc.dictionary(word, anyText, { minKeys: 1, maxKeys: 4, noNullPrototype: true })
const anyValue = fc.oneof(anyText, fc.array(anyText, { minLength: 1, maxLength: 4 }), anyObject)
/** Characters that RFC 6570 encodes and that nothing requires. */
const strict = (sent: string): string =>
  sent.replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

describe('what is written can be read back', () => {
  const OPERATORS = { matrix: ';', label: '.', simple: '', form: '?' } as const
  const styles = fc.constantFrom('matrix', 'label', 'simple', 'form')

  it('is what RFC 6570 makes of it, by another implementation', () => {
    fc.assert(
      fc.property(styles, fc.boolean(), anyValue, (style, explode, color) => {
        const write = compileStyle({ name: 'color', in: style === 'form' ? 'query' : 'path', style, explode })
        const template = `{${OPERATORS[style as 'form']}color${explode ? '*' : ''}}`
        const expected = parseUriTemplate(template)
          .expand({ color } as never)
          .replace(/^\?/, '')
        // A dot separates there, and RFC 6570 does not encode it; that one writes `=` after an empty item of a list.
        const sent = style === 'label' && explode ? write(color)?.replaceAll('%2E', '.') : write(color)
        const emptyItems = style === 'matrix' && explode ? /(?<=;color)=(?=;|$)/g : /^\b$/
        expect(strict(sent ?? '')).toBe(expected.replace(emptyItems, ''))
      }),
      { numRuns: 1000 },
    )
  })

  it('has what was given, for the readers that servers have', () => {
    const deep = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        anyText,
        tie('object'),
        fc.array(anyText, { minLength: 1, maxLength: 3 }),
      ),
      object: fc.dictionary(
        fc.string({ minLength: 1, unit: fc.constantFrom(...'ab=&,.;% é') }),
        tie('value'),
        { minKeys: 1, maxKeys: 3, noNullPrototype: true },
      ),
    })).object
    fc.assert(
      fc.property(deep, (given) => {
        const sent = compileStyle({ name: 'filter', in: 'query', style: 'deepObject' })(given)
        expect(parse(sent ?? '', { depth: 20, allowPrototypes: true })).toEqual({ filter: given })
      }),
    )
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1 }), (given) => {
        const sent = compileStyle({ name: 'é&=', in: 'query' })(given)
        expect(new URLSearchParams(sent).getAll('é&=')).toEqual(given)
      }),
    )
  })

  it('a long name of an object is refused, which each of its scalars would repeat', () => {
    const write = compileStyle({ name: 'a', in: 'query', style: 'deepObject' })
    expect(write({ ['b'.repeat(900)]: { c: 1 } })).toContain('%5Bc%5D=1')
    expect(() => write({ ['b'.repeat(1_001)]: { c: 1 } })).toThrow('its name has more than 1000 characters')
  })

  it('a list that is joined with commas keeps those of its items', () => {
    const comma = compileQuery({ a: '{given}' }, 'comma')
    const writers: readonly ((given: readonly string[]) => string | undefined)[] = [
      (given) => comma.render({ given }).slice('?a='.length),
      (given) => compileStyle({ name: 'a', in: 'query', explode: false })(given)?.slice('a='.length),
      compileStyle({ name: 'a', in: 'path', explode: false }),
    ]
    const item = fc.oneof(anyText, fc.constantFrom(',', 'a,b', ',,'))
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), fc.constantFrom(...writers), (given, write) => {
        expect((write(given) ?? '').split(',').map(decodeURIComponent)).toEqual(given)
      }),
    )
  })

  it.each([
    ['spaceDelimited', '%20', ' '],
    ['pipeDelimited', '%7C', '|'],
  ] as const)(
    '%s refuses a value that holds its separator, and keeps all others',
    (style, joint, character) => {
      fc.assert(
        fc.property(fc.array(anyText, { minLength: 1 }), (given) => {
          const write = compileStyle({ name: 'a', in: 'query', style })
          const read = (): string[] => (write(given) ?? '').slice(2).split(joint).map(decodeURIComponent)
          const isRefused = given.some((item) => item.includes(character))
          expect(resultOf(read)).toEqual(
            isRefused ? `The value for "a" must not contain "${character}", which is a separator.` : given,
          )
        }),
      )
    },
  )

  it('leaves reserved characters only where they can be taken for nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom(...":/?#[]@!$&'()*+,;=a% ") }), { minLength: 1 }),
        fc.boolean(),
        (given, explode) => {
          const write = compileStyle({ name: 'a', in: 'query', explode, allowReserved: true })
          const sent = write(given) ?? ''
          const read = explode
            ? new URLSearchParams(sent).getAll('a')
            : sent.slice(2).split(',').map(decodeURIComponent)
          expect(read).toEqual(given)
        },
      ),
    )
    const reserved = compileStyle({ name: 'a', in: 'query', allowReserved: true })("/x:?@!$'()*,;=")
    expect(reserved).toBe("a=/x:?@!$'()*,;=")
  })
})

it.each<[string, Partial<RestEndpoint>, string]>([
  ['query parameters', { queryParams: { q: '{q}' } }, '/?q=a'],
  ['declared parameters', { parameters: [{ name: 'q', in: 'query' }] }, '/?q=a'],
  ['both', { queryParams: { x: '1' }, parameters: [{ name: 'q', in: 'query' }] }, '/?x=1&q=a'],
])('the query of an empty path stands behind the root: %s', async (_, endpoint, url) => {
  const connector = cleanup.use(
    createRestConnector('c', { baseUrl: backend.url, endpoints: [{ name: 'root', path: '', ...endpoint }] }),
  )
  await connector.execute('root', { q: 'a' })
  expect(backend.requests.at(-1)?.rawUrl).toBe(url)
})

describe('a value stays where it is put', () => {
  it.each(['matrix', 'label', 'simple'] as const)('in its segment of the path: %s', async (style) => {
    const hostile = fc.constantFrom(
      '.',
      '..',
      '../a',
      '%2e%2e',
      '%2e%2e%2f',
      '..\\a',
      'a/../../b',
      '?x',
      '#x',
      ';..',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(hostile, fc.array(hostile), fc.dictionary(hostile, hostile)),
        fc.boolean(),
        async (value, explode) => {
          const before = backend.requests.length
          const outcome = await sentFor({ in: 'path', style, explode }, value).catch(
            (error: { extensions: { code: string } }) => error.extensions.code,
          )
          expect(['BAD_USER_INPUT', expect.objectContaining({ color: undefined })]).toContainEqual(outcome)
          for (const { rawUrl } of backend.requests.slice(before)) {
            expect(rawUrl.split('/')).toHaveLength(3)
            expect(rawUrl).not.toMatch(/[?#\\]/)
            expect(new URL(rawUrl, 'http://x').pathname).toBe(rawUrl)
          }
        },
      ),
    )
  })

  it('in its header, its cookie, its parameter', async () => {
    await expect(sentFor({ in: 'header' }, ['a,b'])).rejects.toThrow('must not contain ","')
    await expect(sentFor({ in: 'header', explode: true }, { 'a=b': 'c' })).rejects.toThrow(
      'must not contain "="',
    )
    await expect(sentFor({ in: 'header' }, 'a\r\nx: y')).rejects.toThrow('header "color"')
    await expect(sentFor({ in: 'cookie', style: 'cookie' }, 'a; admin=1')).rejects.toThrow(
      'must not contain ";"',
    )
    await expect(sentFor({ in: 'query', style: 'deepObject' }, { 'a][b': 1 })).rejects.toThrow(
      'not contain brackets',
    )
    expect((await sentFor({ in: 'cookie' }, 'a; admin=1')).cookie).toBe('color=a%3B%20admin%3D1')
  })
})

describe('a wrong declaration is refused at the start', () => {
  const create = (path: string, parameters: readonly ParameterOptions[]) => () =>
    createRestConnector('c', { baseUrl: 'http://x', endpoints: [{ name: 'x', path, parameters }] })

  it.each<[string, readonly ParameterOptions[], string]>([
    ['/x', [{ name: 'a', in: 'query', style: 'matrix' }], 'cannot have the style "matrix" in query'],
    ['/x', [{ name: 'a', in: 'body' as never }], 'expected path, query, header or cookie'],
    ['/x', [{ name: 'a', in: 'path' }], 'does not contain {a}'],
    ['/x', [{ name: 'a-b', in: 'query' }], 'argument "a-b" is not a valid GraphQL name'],
    [
      '/x',
      [
        { name: 'a', in: 'query' },
        { name: 'a', in: 'query', arg: 'b' },
      ],
      'declared twice',
    ],
    ['/x', [{ name: 'Accept', in: 'header' }], 'declare it in headers'],
    ['/x', [{ name: 'a b', in: 'cookie', arg: 'a' }], 'is not a valid name for a cookie parameter'],
  ])('%s %j', (path, parameters, message) => {
    expect(create(path, parameters)).toThrow(message)
  })

  it('takes any name on the wire under an argument of another', async () => {
    const endpoint = {
      name: 'x',
      path: '/x/{user-id}',
      parameters: [
        { name: 'user-id', in: 'path', arg: 'userId' },
        { name: 'per_page[]', in: 'query', arg: 'perPage' },
      ],
    } as const
    const connector = cleanup.use(createRestConnector('c', { baseUrl: backend.url, endpoints: [endpoint] }))
    await connector.execute('x', { userId: 'a/b', perPage: '1' })
    expect(backend.requests.at(-1)?.rawUrl).toBe('/x/a%2Fb?per_page%5B%5D=1')
    const [field] = Object.values(connector.schema.getQueryType()?.getFields() ?? {})
    expect(field?.args.map(({ name, type }) => `${name}: ${String(type)}`)).toEqual([
      'userId: String!',
      'perPage: String',
    ])
  })
})
