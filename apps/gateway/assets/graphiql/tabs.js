'use strict'
// What the scripts after this one, and the changed bundle, know of GraphiQL's tabs and documents.
globalThis.besideGraphiQL = {
  openTab: () => document.querySelector('.graphiql-tabs [role=tab][aria-selected=true]'),

  whenAnotherTabOpens(callback) {
    new MutationObserver(callback).observe(document, { subtree: true, attributeFilter: ['aria-selected'] })
  },

  /** Calls back with each request that a tab sends, not with those for the schema. */
  whenTabsSend(callback) {
    const send = globalThis.fetch
    globalThis.fetch = (resource, init) => {
      const tab = this.openTab()
      if (!tab || /IntrospectionQuery/.test(init?.body)) return send(resource, init)
      return callback(tab, () => send(resource, init), init)
    }
  },

  /** The text of a document without the definitions that are not sent: what is left stands where it stood. */
  textAsWritten({ definitions, loc }, sent) {
    const missing = definitions.filter((definition) => !sent.includes(definition))
    const blank = (text, { loc: { start, end } }) =>
      text.slice(0, start) + text.slice(start, end).replace(/[^\r\n]/g, ' ') + text.slice(end)
    return loc && missing.reduce(blank, loc.source.body)
  },
}
