// A result of a live query or subscription looks like any other. Whether it still follows the server is told to the
// style sheet in data-live, by tab: GraphiQL stops a tab's stream when another is opened.
{
  const beside = globalThis.besideGraphiQL
  const states = new WeakMap()

  function show() {
    const response = document.querySelector('.graphiql-response')
    const tab = beside.openTab()
    const state = tab && states.get(tab)?.state
    if (state) response?.setAttribute('data-live', state)
    else response?.removeAttribute('data-live')
  }
  beside.whenAnotherTabOpens(show)

  beside.whenTabsSend(async (tab, send, init) => {
    const run = { state: undefined }
    const become = (state) => {
      run.state = state
      show()
    }
    states.set(tab, run)
    show()
    const response = await send()
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      return response
    become('live')
    const { readable, writable } = new TransformStream()
    const stopped = () => become('stopped')
    // However it ends: by the client, the server or the network.
    response.body.pipeTo(writable).then(stopped, stopped)
    init?.signal?.addEventListener('abort', stopped)
    return new Response(readable, response)
  })
}
