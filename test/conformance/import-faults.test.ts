import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/**
 * The faults that imports of OpenAPI documents once had, by their numbers in the list of them, each with the file and the
 * name of the test that was red before it was mended.
 */
const REST = 'packages/rest-connector/test'
const GATEWAY = 'apps/gateway/test'
const faults: readonly (readonly [fault: string, file: string, test: string])[] = [
  ['1: a body on DELETE stops the import', `${REST}/openapi/faults.test.ts`, 'a body on DELETE'],
  ['1: a body on GET stops the import', `${REST}/openapi/faults.test.ts`, 'a body on GET'],
  ['1: "#" in a path', `${REST}/openapi/faults.test.ts`, 'a fragment in a path'],
  ['1: "?" in a path', `${REST}/openapi/faults.test.ts`, 'a query in a path'],
  ['1: names equal in camel case', `${REST}/openapi/faults.test.ts`, 'names that are equal in camel case'],
  ['1: no GET at all', `${REST}/openapi/faults.test.ts`, 'a document without any GET is served'],
  [
    '1: a recursive schema of many files',
    `${REST}/openapi/faults.test.ts`,
    'a recursive schema in a document of many files',
  ],
  [
    '1: a config cannot leave an operation out',
    `${REST}/openapi/selection.test.ts`,
    'a config leaves operations out',
  ],
  [
    '1: one finding at a time',
    `${REST}/openapi/property.test.ts`,
    'counts every operation as a field or as a finding',
  ],
  [
    '2: keys of the user are rewritten',
    `${GATEWAY}/config-formats.property.test.ts`,
    "leaves the user's keys alone",
  ],
  [
    '2: in any map of the config',
    `${GATEWAY}/config-formats.property.test.ts`,
    'is the same in TypeScript, JSON and YAML',
  ],
  ['2: on the wire', `${GATEWAY}/config-bytes.test.ts`, 'the same bytes at the backend'],
  [
    '2: `query_param` is refused',
    `${GATEWAY}/config-formats.property.test.ts`,
    "takes the specification's own words",
  ],
  [
    '3: a POST without a body sends its arguments',
    `${REST}/bodies.test.ts`,
    'sends no body where an OpenAPI document has none',
  ],
  [
    '3: a header secret among them',
    `${REST}/bodies.test.ts`,
    'sends each argument of an endpoint without a template in one place',
  ],
  ['4: HTML for an object', `${REST}/openapi/faults.test.ts`, 'HTML for an object'],
  ['4: a scalar for an object', `${REST}/openapi/faults.test.ts`, 'a scalar for an object'],
  ['4: text for a mutation', `${REST}/openapi/faults.test.ts`, 'text for a mutation'],
  ['4: deeper in a reply', `${REST}/wrong-shape.test.ts`, 'that is none is an error there'],
  ['5: forms with objects', `${REST}/openapi/requests.test.ts`, 'is a form with objects'],
  [
    '5: deepObject and the other styles',
    `${REST}/wire/parameter-styles.test.ts`,
    'is written as the table of the OpenAPI specification says',
  ],
  ['5: cookies', `${REST}/wire/parameter-styles.test.ts`, 'in its header, its cookie, its parameter'],
  [
    '5: content parameters',
    `${REST}/wire/parameter-styles.test.ts`,
    'writes what has a media type as one text',
  ],
  ['5: `*/*` bodies', `${REST}/wire/body-media-types.test.ts`, 'is what a server takes that takes anything'],
  ['5: merge-patch+json', `${REST}/wire/body-media-types.test.ts`, 'application/merge-patch+json'],
  [
    '5: commas are lost',
    `${REST}/wire/parameter-styles.test.ts`,
    'a list that is joined with commas keeps those of its items',
  ],
  ['6: integers are Int', `${REST}/openapi/faults.test.ts`, "describe('integers'"],
  [
    '6: an id of 64 bits cannot be passed back',
    `${REST}/openapi/faults.test.ts`,
    'an id that was read can be passed back',
  ],
  [
    '6: JSON rounds integers',
    `${REST}/openapi/faults.test.ts`,
    'are not rounded in JSON that comes as a literal',
  ],
  ['7: two documents with a type of one name', `${GATEWAY}/two-documents.test.ts`, 'stand together'],
  [
    '7: user and User merge',
    `${REST}/openapi/faults.test.ts`,
    'of schemas that differ in case are two types',
  ],
  ['7: init loses the base path', `${REST}/openapi/requests.test.ts`, 'its base path stays'],
  ['7: server variables', `${REST}/openapi/requests.test.ts`, 'variables of the environment'],
  ['7: servers of operations', `${REST}/openapi/requests.test.ts`, 'with a server of its own is asked there'],
  [
    '7: servers of operations, after init',
    `${GATEWAY}/init.test.ts`,
    'some of whose operations are at other servers',
  ],
  [
    '7: init tells nothing of what is left out',
    `${GATEWAY}/init.test.ts`,
    'says in the config what of a document is left out',
  ],
  ['7: check tells nothing of it', `${GATEWAY}/two-documents.test.ts`, 'check tells all of it'],
  ['7: 638 MB for GitHub', 'test/corpus/table/main.ts', '300'],
  ['8: Retry-After is cut', `${REST}/retry.test.ts`, 'where Retry-After is longer than the call may take'],
  [
    '8: oneOf with properties keeps only those',
    `${REST}/openapi/types/interfaces.test.ts`,
    'go to every variant',
  ],
  ['8: response headers are out of reach', `${REST}/openapi/envelopes.test.ts`, 'are fields beside the body'],
  ['8: paging', `${REST}/envelope.test.ts`, 'is the next page, as far as there is one'],
  ['8: charsets', `${REST}/wire/answer-codings.test.ts`, 'an answer in another charset than UTF-8'],
  ['8: deflate and zstd', `${REST}/wire/answer-codings.test.ts`, 'in any content encoding that Node has'],
  [
    '8: unasked 100 Continue',
    `${REST}/wire/interim-answers.test.ts`,
    'any interim answers, cut anywhere, with or without headers',
  ],
  ['8: security schemes are ignored', `${REST}/openapi/requests.test.ts`, 'tells which variables it wants'],
]

it.each(faults)('%s', (_, file, test) => {
  const text = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')
  expect(text.replaceAll("\\'", "'")).toContain(test)
})
