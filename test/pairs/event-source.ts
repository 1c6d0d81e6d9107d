/** One event of a stream, as `EventSource` gets it. */
export interface StreamEvent {
  /** Empty: `onmessage` hears it. */
  readonly name: string
  readonly data: string
}

/** Asks by GET for an event stream and nothing else, as an `EventSource` does, until the stream ends. */
export async function followEventSource(
  endpoint: string,
  {
    query,
    headers,
    signal,
    onEvent,
  }: {
    readonly query: string
    readonly headers: Readonly<Record<string, string>>
    readonly signal: AbortSignal
    readonly onEvent: (event: StreamEvent) => void
  },
): Promise<void> {
  const response = await fetch(`${endpoint}?${new URLSearchParams({ query }).toString()}`, {
    headers: { ...headers, accept: 'text/event-stream' },
    signal,
  })
  if (!response.ok || !response.body) throw new Error(`status ${response.status}: ${await response.text()}`)
  let rest = ''
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const events = `${rest}${piece}`.split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const part = (field: string): string => new RegExp(`^${field}: ?(.*)$`, 'm').exec(event)?.[1] ?? ''
      const data = part('data')
      if (data !== '') onEvent({ name: part('event'), data })
    }
  }
}
