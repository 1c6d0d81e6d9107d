import { atPlace, RestConfigError } from '../errors.ts'
import { checkedHeader, isHeaderName } from '../templates/header-template.ts'
import type { PathValue } from '../templates/path-template.ts'
import { argOf, type Args } from '../templates/template.ts'
import type { ParameterOptions, ParameterPlace } from './parameter-options.ts'
import { compileStyle, type WriteValue } from './style.ts'

/** The declared parameters of an endpoint, those of each place together. */
export interface Parameters {
  /** Arguments of all but the path's. */
  readonly variables: readonly string[]
  /** By the name in the braces of the path. */
  readonly path: ReadonlyMap<string, PathValue>
  /** `a=1&b=2`, or the empty string. */
  query(args: Args): string
  /** Headers by name in lower case, `cookie` among them; undefined: none is declared. */
  headers(args: Args): Record<string, string> | undefined
}

interface Compiled {
  readonly name: string
  readonly arg: string
  readonly write: WriteValue
}

/** Header names that OpenAPI gives to other parts of a document: it ignores parameters of them ("Parameter Object", `name`). */
export const OTHER_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

/** Throws `RestConfigError` for a parameter that is declared twice or cannot be written as it says. */
export function compileParameters(declared: readonly ParameterOptions[]): Parameters {
  const places: Record<ParameterPlace, Compiled[]> = { path: [], query: [], header: [], cookie: [] }
  const compile = (parameter: ParameterOptions): void => {
    const { name, in: place, arg = name } = parameter
    if (!Object.hasOwn(places, place))
      throw new RestConfigError(
        `parameter "${name}" is in "${place}"; expected path, query, header or cookie`,
      )
    if (places[place].some((other) => other.name === name))
      throw new RestConfigError(`the ${place} parameter "${name}" is declared twice`)
    if (place === 'header' && OTHER_HEADERS.has(name.toLowerCase()))
      throw new RestConfigError(`the header "${name}" cannot be a parameter; declare it in headers`)
    if ((place === 'header' || place === 'cookie') && !isHeaderName(name))
      throw new RestConfigError(`"${name}" is not a valid name for a ${place} parameter`)
    places[place].push({ name, arg, write: compileStyle(parameter) })
  }
  for (const [index, parameter] of declared.entries())
    atPlace(['parameters', index], () => compile(parameter))
  const { path, query, header, cookie } = places
  return {
    variables: [...query, ...header, ...cookie].map(({ arg }) => arg),
    path: new Map(path.map(({ name, arg, write }) => [name, { variable: arg, write }])),
    query: (args) => (query.length === 0 ? '' : written(query, args).join('&')),
    headers(args) {
      if (header.length + cookie.length === 0) return undefined
      const headers: Record<string, string> = {}
      for (const parameter of header) {
        const text = textOf(parameter, args)
        if (text !== undefined) headers[parameter.name.toLowerCase()] = checkedHeader(parameter.name, text)
      }
      const cookies = written(cookie, args)
      if (cookies.length > 0) headers['cookie'] = checkedHeader('cookie', cookies.join('; '))
      return headers
    },
  }
}

function textOf({ arg, write }: Compiled, args: Args): string | undefined {
  const value = argOf(args, arg) ?? undefined
  return value === undefined ? undefined : write(value)
}

function written(parameters: readonly Compiled[], args: Args): string[] {
  return parameters.map((parameter) => textOf(parameter, args)).filter((text) => text !== undefined)
}
