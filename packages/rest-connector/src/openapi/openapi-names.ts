/** Names that a GraphQL schema already gives a meaning. */
const TAKEN: ReadonlySet<string> = new Set([
  'Query',
  'Mutation',
  'Subscription',
  'String',
  'Int',
  'Float',
  'Boolean',
  'ID',
  'Long',
  'JSON',
])

/** `/users/{user-id}` read by GET becomes `getUsersByUserId`. */
export function operationName(method: string, path: string): string {
  const words = path
    .split('/')
    .filter(Boolean)
    .map((segment) => segment.replace(/^\{(.*)\}$/, 'by-$1'))
  return toFieldName([method.toLowerCase(), ...words].join('-'))
}

export function toFieldName(text: string): string {
  const joined = camel(text)
  return isName(joined) ? joined : `_${joined.replace(/^_+/, '')}`
}

export function toTypeName(prefix: string, text: string): string {
  const joined = camel(text)
  const name = prefix + joined.charAt(0).toUpperCase() + joined.slice(1)
  if (TAKEN.has(name)) return `${name}Type`
  return isName(name) ? name : `_${name.replace(/^_+/, '')}`
}

/** Joins words at characters that a name cannot hold; underscores and capitals stay as they are. */
function camel(text: string): string {
  const [first = '', ...rest] = text.split(/[^A-Za-z0-9_]+/).filter(Boolean)
  return [first, ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}

function isName(text: string): boolean {
  return /^(?!__)[A-Za-z_]\w*$/.test(text)
}
