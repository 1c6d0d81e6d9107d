import { createRequire } from 'node:module'

/** What Prism has against a request or a response. */
export interface Violation {
  readonly path?: readonly (string | number)[]
  readonly code?: string | number
  readonly message: string
}

/** What Prism found of one request. */
export interface Exchange {
  readonly request: readonly Violation[]
  readonly response: readonly Violation[]
}

export interface PrismUpstream extends AsyncDisposable {
  readonly url: string
  /** What came since it was last called. */
  take(): readonly Exchange[]
}

/** A validator of Prism: a left holds violations. */
type Validate = (input: object) => {
  readonly _tag: 'Left' | 'Right'
  readonly left?: readonly Violation[]
}

interface PrismHttp {
  getHttpOperationsFromSpec(document: object): Promise<readonly object[]>
}

interface PrismServer {
  createServer(
    operations: readonly object[],
    options: object,
  ): { listen(port: number, host: string): Promise<string>; close(): Promise<void> }
}

const require = createRequire(import.meta.url)

/** What Prism has to say is heard through its validators. */
const silent: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    ['trace', 'debug', 'info', 'start', 'success', 'warn', 'error', 'fatal'].map((level) => [
      level,
      () => {},
    ]),
  ),
  child: () => silent,
}

/** Serves a document: requests are validated, and answered with data made by chance of the responses' schemas. */
export async function startPrism(document: object, seed: string): Promise<PrismUpstream> {
  const { getHttpOperationsFromSpec } = require('@stoplight/prism-http') as PrismHttp
  const { createServer } = require('@stoplight/prism-http-server') as PrismServer
  const validators = require('@stoplight/prism-http/dist/validator') as Record<
    'validateInput' | 'validateOutput' | 'validateSecurity',
    Validate
  >
  let exchanges: { request: Violation[]; response: Violation[] }[] = []

  function recorded(validate: Validate, kind: keyof Exchange, isFirst = false): Validate {
    return (input) => {
      if (isFirst) exchanges.push({ request: [], response: [] })
      const result = validate(input)
      if (result._tag === 'Left') exchanges.at(-1)?.[kind].push(...(result.left ?? []))
      return result
    }
  }

  const server = createServer(await getHttpOperationsFromSpec(document), {
    cors: false,
    config: {
      isProxy: false,
      checkSecurity: true,
      validateRequest: true,
      validateResponse: true,
      errors: false,
      mock: { dynamic: true, ignoreExamples: true, seed },
    },
    components: {
      logger: silent,
      validateSecurity: recorded(validators.validateSecurity, 'request', true),
      validateInput: recorded(validators.validateInput, 'request'),
      validateOutput: recorded(validators.validateOutput, 'response'),
    },
  })
  return {
    url: await server.listen(0, '127.0.0.1'),
    take() {
      const taken = exchanges
      exchanges = []
      return taken
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}
