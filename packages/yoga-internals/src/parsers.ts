import type { YogasPlugins } from './yogas-plugins.ts'

/** Reads the parameters of an operation from a request. */
type RequestParser = (request: Request) => unknown

type ParserHook = (payload: object) => unknown

/** Yoga's hooks that choose how parameters are read: each looks at a request's method and content type alone. */
export function parserHooks(own: YogasPlugins): ParserHook[] {
  const plugins = [own.targetParser, own.jsonParser, own.multipartParser, own.textParser, own.formParser]
  return plugins.flatMap((plugin) => (plugin ? [plugin['onRequestParse'] as ParserHook] : []))
}

/**
 * Which parser these hooks choose, as it is handed to `setRequestParser`. Undefined where they choose none, or ask for more
 * than Yoga's do.
 */
export function chosenParser(
  hooks: readonly ParserHook[],
  method: 'GET' | 'POST',
  contentType: string,
): RequestParser | undefined {
  let chosen: RequestParser | undefined
  const get = (name: string): string | null => (name.toLowerCase() === 'content-type' ? contentType : null)
  const setRequestParser = (parser: RequestParser): void => void (chosen = parser)
  try {
    for (const hook of hooks) void hook({ request: { method, headers: { get } }, setRequestParser })
    return chosen
  } catch {
    return undefined
  }
}
