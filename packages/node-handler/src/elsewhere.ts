/** The package where nothing fulfils the export condition `node`: each of its functions throws. */

/** Throws: there is no HTTP server of Node here. */
function notHere(): never {
  throw new TypeError(
    '@vinyasa/node-handler is only for the HTTP server of Node. Call yoga.fetch if requests are Request objects.',
  )
}

export {
  notHere as acceptTargets,
  notHere as createNodeHandler,
  notHere as guardBody,
  notHere as readFormData,
  notHere as useUploads,
}
