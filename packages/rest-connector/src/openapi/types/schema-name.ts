import { decoded, splitOnce, unescapeStep } from '../openapi-document.ts'
import { pascal } from '../names.ts'
import type { Place, SchemaName } from './type-names.ts'

/** Steps of a place inside of an operation or a schema, where nothing has a name that others may not have. */
const INSIDE = new Set('paths items schema properties additionalProperties allOf oneOf anyOf'.split(' '))

/**
 * The name that a reference gives to its schema: that of a component, of a definition, or of a whole file. What stands
 * elsewhere, as in documents that a bundler wrote, is called by its place: `items` would be everybody's name.
 */
export function schemaName(ref: string | undefined): SchemaName | undefined {
  if (ref === undefined) return undefined
  const [file, pointer] = splitOnce(ref, '#')
  const steps = pointer
    .split('/')
    .slice(1)
    .filter(Boolean)
    .map((step) => unescapeStep(decoded(step)))
  const last = steps.at(-1)
  if (last === undefined) {
    const fileName = unescapeStep(decoded(file.split('/').at(-1) ?? ''))
    return file === '' ? undefined : { name: fileName.replace(/\.\w+$/, ''), key: ref }
  }
  const isOwn = file === '' && steps.length === 3 && steps[0] === 'components' && steps[1] === 'schemas'
  if (isOwn) return { name: last, key: last }
  const isInside = steps.some((step, index) => INSIDE.has(step) && steps[index - 1] !== 'schemas')
  return isInside ? undefined : { name: last, key: ref }
}

/**
 * The place of a part that several operations refer to: that of the component, which stays whatever operations come along;
 * of one that stands in its operation, that other place.
 */
export function sharedPlace(ref: string | undefined, other: Place): Place {
  const [section = '', last = ''] = (ref ?? '').split('/').slice(-2)
  const name = SHARED.has(section) ? pascal(unescapeStep(decoded(last))) : ''
  return ref === undefined || !/^[A-Za-z]/.test(name) ? other : { name, key: ref }
}

const SHARED = new Set(['parameters', 'requestBodies', 'responses'])
