const OPERATOR = 'reads settings or files of the operator before the gateway listens'
const SCHEMA = 'reads names of the schema and of settings, when the schema is built'
const DOCUMENT = 'builds the schema from a document, by the functions of the table'
const CALLS = 'passes text on to functions of the table'
const KIND = 'looks at the type of a value, not at its text'
const WRITES = 'puts text into messages or results, and does not go through it'

/** Why functions that take text are not in the table, by the beginning of their file and name. */
export const EXCEPTIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    [OPERATOR]: `apps/demo-
      apps/gateway/src/commands/ apps/gateway/src/config/ apps/gateway/src/cli# apps/gateway/src/errors#
      apps/gateway/src/access/documents/load-documents# apps/gateway/src/access/rules/ apps/gateway/src/bus/
      apps/gateway/src/connections/listen# apps/gateway/src/connections/connection-limit#connectionsPossible apps/gateway/src/graphiql/
      apps/gateway/src/http/cors#toPattern apps/gateway/src/http/trusted-proxies#isProxyRange
      apps/gateway/src/redis/ apps/gateway/src/sources/ apps/gateway/src/texts/first-mistake#
      apps/gateway/src/texts/pem-texts# apps/gateway/src/v8/ apps/gateway/src/workers/
      packages/core/src/options/check-options# packages/grpc-source/src/descriptors/
      packages/grpc-source/src/runtime/endpoint# packages/grpc-source/src/runtime/metadata#variesByOf
      packages/grpc-transport/src/grpc/pool# packages/grpc-transport/src/grpc/target#
      packages/grpc-transport/src/tls-context#
      packages/rest-connector/src/declare/ packages/rest-connector/src/interceptors/
      packages/rest-connector/src/http/transport#parseBaseUrl
      packages/rest-connector/src/templates/template#parseTemplate
      packages/rest-connector/src/templates/template#refuseStrayBraces
      packages/source-kit/src/templates/entity-id#compileEntityId packages/core/src/yoga-internals#`,
    [SCHEMA]: `apps/gateway/src/coordinates# apps/gateway/src/cost/ apps/gateway/src/federation/directives#
      apps/gateway/src/federation/find-lookup# apps/gateway/src/schema/ packages/grpc-source/src/calls/joins#
      packages/grpc-source/src/contract/ packages/grpc-source/src/mapping/types#
      packages/invalidation/src/mutations/mutation-events# packages/live-query/src/triggers/triggers#triggersOfTypes packages/live-query/src/triggers/triggers#TriggerIndex
      packages/rest-connector/src/fields/ packages/rest-connector/src/json/compile-object#
      packages/rest-connector/src/parameters/style#hasStyle packages/source-kit/src/naming/
      packages/source-kit/src/plan/compile-plan# packages/source-kit/src/schema/`,
    [DOCUMENT]: `packages/rest-connector/src/openapi/files/download#
      packages/rest-connector/src/openapi/findings#Findings
      packages/rest-connector/src/openapi/import-openapi# packages/rest-connector/src/openapi/links#isChosen
      packages/rest-connector/src/openapi/names#passedOver packages/rest-connector/src/openapi/names#freeName
      packages/rest-connector/src/openapi/request-input#
      packages/rest-connector/src/openapi/security#
      packages/rest-connector/src/openapi/types/describe#describeMember
      packages/rest-connector/src/openapi/types/scalars# packages/rest-connector/src/openapi/types/schema-types#
      packages/rest-connector/src/openapi/types/shape# packages/rest-connector/src/openapi/types/type-names#TypeNames
      packages/rest-connector/src/openapi/types/unsaid# packages/rest-connector/src/openapi/types/variants#`,
    [CALLS]: `apps/gateway/src/federation/lookup# packages/core/src/json/values#copyJson packages/core/src/json/values#mergePatch
      packages/node-handler/src/http/body#readBody packages/node-handler/src/http/body#countedBody apps/gateway/src/observability/recorder#
      packages/core/src/http/bounded-fetch# packages/core/src/json/stringify-slices#writeInSlices
 packages/grpc-source/src/methods/invoker#
      packages/live-query/src/document/filter#parseQueryArguments packages/live-query/src/execution/passes# packages/core/src/pipeline/operation-run#
      packages/node-handler/src/cycle/cycle#Cycle packages/node-handler/src/cycle/exchange#
      packages/node-handler/src/cycle/operation-step# packages/node-handler/src/http/light-request#lightOf
      packages/core/src/pipeline/pipeline# packages/response-cache/src/answer/admission#Admission
      packages/response-cache/src/answer/behaviour# packages/response-cache/src/answer/behaviour# packages/response-cache/src/plugin#
      packages/response-cache/src/redis/redis-store# packages/response-cache/src/redis/told-batches#`,
    [KIND]: `packages/response-cache/src/http/request-reads# packages/core/src/json/values#is
      packages/core/src/pipeline/plugins#
      packages/grpc-source/src/mapping/scalars#isFile packages/node-handler/src/yoga/yogas-choices#
      packages/node-handler/src/http/body#hasBody packages/node-handler/src/yoga/yoga-5#
      packages/rest-connector/src/bodies/file#isFile packages/rest-connector/src/http/cache-key#isInKey
      packages/rest-connector/src/http/header-values#single
      packages/rest-connector/src/openapi/openapi-document#asNode
      packages/rest-connector/src/openapi/openapi-document#asList
      packages/rest-connector/src/openapi/openapi-document#asText`,
    [WRITES]: `packages/grpc-source/src/runtime/faults#describeFailure packages/response-cache/src/errors#
      packages/grpc-source/src/json/compile-message#
      apps/gateway/src/logging/outage# apps/gateway/src/access/documents/apq#ofThisMoment apps/gateway/src/logging/line-writer#lineWriterOf
      
      packages/grpc-source/src/methods/reply-headers# packages/grpc-transport/src/grpc/request-headers#
      packages/grpc-transport/src/http2/out-buffer# packages/live-query/src/errors#
      packages/live-query/src/protocol/handshake#refuseUpgrade
      packages/live-query/src/store/update# packages/node-handler/src/http/body#guardBody
      packages/response-cache/src/answer/serialized-result# packages/response-cache/src/store/entry#LazyEntry
      packages/rest-connector/src/call/call#explain packages/rest-connector/src/http/attempt#BadStatus
      packages/response-cache/src/store/entry#typeTag packages/response-cache/src/store/entry#entityTag
      packages/response-cache/src/store/entry#unidentifiedTag packages/source-kit/src/answer/json-result#`,
  }).flatMap(([reason, starts]) => starts.split(/\s+/).map((start) => [start, reason])),
)

export function isException(named: string): boolean {
  return Object.keys(EXCEPTIONS).some((start) => named.startsWith(start))
}
