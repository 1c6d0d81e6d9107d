// GraphiQL's editors are Monaco's, which GraphiQL puts here as it loads them.
{
  const beside = globalThis.besideGraphiQL
  const OWNER = 'answer'
  const sentTexts = new WeakMap()
  const dark = matchMedia('(prefers-color-scheme: dark)')
  let monaco

  Object.defineProperty(globalThis, '__MONACO', {
    get: () => monaco,
    set(loaded) {
      monaco = loaded
      const { editor } = monaco
      editor.onDidCreateModel((model) => model.onDidChangeContent(markErrors))
      editor.onDidChangeMarkers(markErrors)
      editor.onDidCreateEditor((created) => created.updateOptions({ wordWrap: 'on' }))
    },
  })
  dark.addEventListener('change', followSystem)
  beside.whenAnotherTabOpens(markErrors)
  beside.whenTabsSend((tab, send) => {
    sentTexts.set(tab, modelOf('operation.graphql')?.getValue())
    return send()
  })

  /** GraphiQL looks at the system's colours once, and its style sheet always. */
  function followSystem() {
    if (document.body.matches('.graphiql-light, .graphiql-dark')) return
    monaco?.editor.setTheme(dark.matches ? 'graphiql-DARK' : 'graphiql-LIGHT')
  }

  function modelOf(name) {
    return monaco?.editor.getModels().find(({ uri }) => uri.path.endsWith(name))
  }

  /** Marks where the errors of the answer are, as long as it is the answer to what the editor shows. */
  function markErrors() {
    const model = modelOf('operation.graphql')
    if (!model) return
    const isAnswered = sentTexts.get(beside.openTab()) === model.getValue()
    const shown = monaco.editor.getModelMarkers({ resource: model.uri })
    const others = new Set(shown.filter(({ owner }) => owner !== OWNER).map(keyOf))
    const marks = isAnswered ? answeredErrors().flatMap((error) => marksOf(model, error)) : []
    // What the editor says by itself is not said twice.
    const wanted = marks.filter((mark) => !others.has(keyOf(mark)))
    const own = shown.filter(({ owner }) => owner === OWNER)
    if (String(own.map(keyOf)) !== String(wanted.map(keyOf)))
      monaco.editor.setModelMarkers(model, OWNER, wanted)
  }

  function answeredErrors() {
    try {
      const { errors } = JSON.parse(modelOf('response.json').getValue())
      return Array.isArray(errors) ? errors : []
    } catch {
      return []
    }
  }

  function marksOf(model, { message, locations = [], extensions }) {
    return locations
      .filter(({ line, column }) => line <= model.getLineCount() && column <= model.getLineMaxColumn(line))
      .map(({ line, column }) => {
        const [token = ''] = /^(?:[$@]?\w+|\.{3}|.?)/.exec(model.getLineContent(line).slice(column - 1)) ?? []
        return {
          severity: monaco.MarkerSeverity.Error,
          message,
          code: extensions?.code,
          startLineNumber: line,
          startColumn: column,
          endLineNumber: line,
          endColumn: column + token.length,
        }
      })
  }

  function keyOf({ startLineNumber, startColumn, message }) {
    return `${startLineNumber}:${startColumn} ${message}`
  }
}
