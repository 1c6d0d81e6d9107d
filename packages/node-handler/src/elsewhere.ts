/** The package where nothing fulfils the export condition `node`: each of its functions throws. */

/** Throws: there is no HTTP server of Node here. */
function notHere(): never {
  throw new TypeError(
    '@vinyasa/node-handler works only with the HTTP server of Node. If your server uses Request objects, call yoga.fetch.',
  )
}

export {
  notHere as acceptTargets,
  notHere as createNodeHandler,
  notHere as guardBody,
  notHere as readFormData,
  notHere as useUploads,
}
