import type { Fault } from './fault.ts'

/** Caches with which something asked again is a hit. */
const KEEPING = ['types', 'entities', 'all'] as const

/** Faults of the kinds that were found where two features meet, each a line or two. */
export const FAULTS: readonly Fault[] = [
  {
    name: "the cache's key ignores the headers that sources forward",
    edits: [
      {
        file: 'packages/response-cache/src/document/document-profile.ts',
        from: '.map((name) => name.toLowerCase()), ...variesBy.headers]',
        to: '.map((name) => name.toLowerCase())]',
      },
    ],
    beside: { cache: KEEPING, forward: ['tenant by grpc', 'tenant by rest', 'all'] },
  },
  {
    name: 'the same, and a header is made of a claim',
    edits: [
      {
        file: 'packages/response-cache/src/document/document-profile.ts',
        from: '.map((name) => name.toLowerCase()), ...variesBy.headers]',
        to: '.map((name) => name.toLowerCase())]',
      },
    ],
    beside: { cache: ['endless', ...KEEPING], jwt: 'claims' },
  },
  {
    name: 'nobody takes note of what resolvers of the config read',
    edits: [
      {
        file: 'apps/gateway/src/dependencies/own-code/declare-varies-by.ts',
        from: 'for (const field of code) add(field, ofCode)',
        to: '',
      },
    ],
    beside: { cache: KEEPING, resolvers: 'undeclared' },
  },
  {
    name: 'live queries are shared by those whom forwarded headers tell apart',
    edits: [
      {
        file: 'packages/live-query/src/execution/engine.ts',
        from: 'varyHeaders.map((name) => name.toLowerCase()), ...variesBy.headers]',
        to: 'varyHeaders.map((name) => name.toLowerCase())]',
      },
    ],
    beside: {
      live: ['sse', 'ws', 'EventSource', 'patches'],
      forward: ['tenant by grpc', 'tenant by rest', 'all'],
    },
  },
  {
    name: '`Vary` does not name what sources forward',
    edits: [
      {
        file: 'packages/response-cache/src/http/cache-headers.ts',
        from: "['Accept', 'Cookie', ...varyHeaders, ...names]",
        to: "['Accept', 'Cookie', ...varyHeaders]",
      },
    ],
    beside: { cache: ['endless', ...KEEPING], clientMaxAge: 'on', forward: ['user', 'all'] },
  },
  {
    name: 'neither a mutation nor the bus evicts',
    edits: [
      {
        file: 'packages/response-cache/src/response-cache.ts',
        from: "if (tags !== 'all' && tags.length === 0) return",
        to: 'if (tags) return',
      },
    ],
    beside: { cache: ['endless', ...KEEPING] },
  },
  {
    name: 'a mutation does not wait for the other gateways, over NATS',
    edits: [
      {
        file: 'packages/invalidation/src/bus/peers.ts',
        from: 'if (asked.length === 0 || this.#isSilent) return Promise.resolve()',
        to: 'return Promise.resolve()',
      },
    ],
    beside: { cache: KEEPING, nats: 'on', gateways: '2' },
  },
  {
    name: 'a mutation does not wait for the other gateways, over Redis',
    edits: [
      {
        file: 'packages/invalidation/src/bus/peers.ts',
        from: 'if (asked.length === 0 || this.#isSilent) return Promise.resolve()',
        to: 'return Promise.resolve()',
      },
    ],
    beside: { cache: KEEPING, redis: ['settings', 'url'], nats: 'off', gateways: '2' },
  },
  {
    name: 'nothing bounds what is kept while a gateway is missing',
    edits: [
      {
        file: 'packages/invalidation/src/bus/peers.ts',
        from: 'return isMissing ? this.#silentMs : undefined',
        to: 'return isMissing ? undefined : undefined',
      },
      {
        file: 'packages/invalidation/src/bus/distributed-bus.ts',
        from: 'if (peers.look()) {',
        to: 'if (peers.look() && afterSilence === undefined) {',
      },
    ],
    beside: { cache: ['endless', ...KEEPING], nats: 'on', gateways: 'parted' },
  },
  {
    name: 'a statement on a root type is ignored',
    edits: [
      {
        file: 'packages/response-cache/src/document/document-profile.ts',
        from: 'if (root) touch(root)',
        to: 'if (root) void touch',
      },
      {
        file: 'packages/response-cache/src/document/document-profile.ts',
        from: '    touch(parent)',
        to: '    if (parent !== root) touch(parent)',
      },
    ],
    beside: { cache: 'root' },
  },
  {
    name: 'what has extensions is not kept',
    edits: [
      {
        file: 'packages/response-cache/src/answer/behaviour.ts',
        from: 'const isKept = !result.errors?.length',
        to: 'const isKept = !result.extensions && !result.errors?.length',
      },
    ],
    beside: { cache: KEEPING, cost: 'told' },
  },
  {
    name: 'a scrape is answered by one worker with its own numbers',
    edits: [
      {
        file: 'apps/gateway/src/workers/worker-metrics.ts',
        from: '    return last\n',
        to: '    return last === undefined ? last : served.all()\n',
      },
    ],
    beside: { workers: '2', metrics: 'on' },
  },
  {
    name: 'each operation is counted twice',
    edits: [
      {
        file: 'apps/gateway/src/observability/metrics/metrics.ts',
        from: "operationOfType(isLiveRun(context) ? 'live' : type)(1)",
        to: "operationOfType(isLiveRun(context) ? 'live' : type)(2)",
      },
    ],
    beside: { metrics: ['on', 'token'] },
  },
  {
    name: 'each run of a live query is counted twice',
    edits: [
      {
        file: 'apps/gateway/src/observability/metrics/metrics.ts',
        from: "operationOfType(isLiveRun(context) ? 'live' : type)(1)",
        to: "operationOfType(isLiveRun(context) ? 'live' : type)(isLiveRun(context) ? 2 : 1)",
      },
    ],
    beside: { metrics: ['on', 'token'], live: ['sse', 'ws', 'EventSource', 'patches'] },
  },
  {
    name: 'each call of a backend is counted twice',
    edits: [
      {
        file: 'apps/gateway/src/observability/metrics/metrics.ts',
        from: 'endedWith(status)((now() - startedAt) / 1000)',
        to: 'for (const end of [endedWith(status), endedWith(status)]) end((now() - startedAt) / 1000)',
      },
    ],
    beside: { metrics: ['on', 'token'], gateways: '1' },
  },
  {
    name: 'calls of backends carry a second `traceparent`',
    edits: [
      {
        file: 'apps/gateway/src/observability/tracing.ts',
        from: 'contextApi.with(suppressTracing(contextApi.active()), send)',
        to: 'contextApi.with(contextApi.active() ?? suppressTracing, send)',
      },
    ],
    beside: { tracing: 'beside OpenTelemetry' },
  },
  {
    name: 'a request has two spans of a server',
    edits: [
      {
        file: 'apps/gateway/src/observability/tracing.ts',
        from: 'if (around && isOfServer(around)) {',
        to: 'if (around && isOfServer(around) && name === undefined) {',
      },
    ],
    beside: { tracing: 'beside OpenTelemetry' },
  },
  {
    name: 'backends are below the operation, not below their calls',
    edits: [
      {
        file: 'apps/gateway/src/observability/tracing.ts',
        from: 'propagator.inject(trace.setSpan(parent, span), headers, SETTER)',
        to: 'propagator.inject(parent, headers, SETTER)',
      },
    ],
    beside: { tracing: 'on' },
  },
  {
    name: 'base64 text of an `Upload` is sent as the file',
    edits: [
      {
        file: 'packages/rest-connector/src/bodies/file.ts',
        from: "isFile(value) ? received(value) : toFile(value, 'Upload')",
        to: 'isFile(value) ? received(value) : value',
      },
    ],
    beside: { uploads: 'whole' },
  },
  {
    name: 'parameters that operations of Swagger 2 share are not found',
    edits: [
      {
        file: 'packages/rest-connector/src/openapi/files/swagger-2.ts',
        from: 'document.find(one) ?? asNode(one)',
        to: 'asNode(one)',
      },
    ],
    beside: { uploads: 'whole' },
  },
  {
    name: 'SIGTERM to a package manager does not reach the gateway',
    edits: [
      {
        file: 'apps/gateway/src/main.ts',
        from: "if (!worker) onScriptShellEnd(() => shutdown.abort('SIGTERM'))",
        to: 'void onScriptShellEnd',
      },
    ],
    beside: { launcher: ['npm start', 'npx'] },
  },
  {
    name: 'one hook of a plugin closes the cache of documents',
    edits: [
      {
        file: 'packages/node-handler/src/cycle/cycle.ts',
        from: 'if (!this.#usesCache) return undefined',
        to: 'if (!this.#usesCache || this.server.steps.some(({ hooks }) => hooks)) return undefined',
      },
    ],
    beside: { plugin: 'onResponse' },
  },
  {
    name: 'one hook of a plugin makes each value in a text another document',
    edits: [
      {
        file: 'packages/core/src/pipeline/plugins.ts',
        from: "this.seesLiterals = has('onParse', 'onValidate', 'onExecute')",
        to: 'this.seesLiterals = has(...HOOK_NAMES)',
      },
    ],
    beside: { plugin: 'onResponse' },
  },
  {
    name: "Yoga's plugins of documents by ids are asked behind the gateway's refusal",
    edits: [
      {
        file: 'apps/gateway/src/composition/plugins.ts',
        from: '    ...added,\n    ...access.behindPlugins,\n',
        to: '    ...access.behindPlugins,\n    ...added,\n',
      },
    ],
    beside: { plugin: ["Yoga's apq", "Yoga's documents"] },
  },
  {
    name: '`@defer` is written by the hooks',
    edits: [
      {
        file: 'packages/node-handler/src/cycle/cycle.ts',
        from: 'for (const stream of this.#streams) {',
        to: 'for (const stream of [] as typeof this.#streams) {',
      },
    ],
    beside: { defer: ['usual', 'streaming', 'eager'] },
  },
  {
    name: 'event streams stay in an nginx as it is shipped',
    edits: [
      {
        file: 'packages/core/src/pipeline/streams.ts',
        from: "'X-Accel-Buffering': 'no', ",
        to: '',
      },
      {
        file: 'apps/gateway/src/http/live-streams.ts',
        from: "if (!res.headersSent) res.setHeader('X-Accel-Buffering', 'no')",
        to: '',
      },
    ],
    beside: { live: ['sse', 'EventSource'], proxy: 'nginx as shipped' },
  },
]
