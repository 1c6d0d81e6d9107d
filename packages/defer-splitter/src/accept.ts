/**
 * How a deferred operation's answer travels.
 *
 * `patches` is the specification's format (`incremental: [{ data, path, label }]`), `pending` the later one
 * (`pending` / `completed`). `parameter` is the Accept parameter that the client named, to be echoed.
 */
export interface MultipartDelivery {
  readonly format: 'patches' | 'pending'
  readonly parameter: string | undefined
}

/**
 * The multipart format that an Accept header asks for, or undefined when it asks for none that we speak: bare
 * `multipart/mixed`, `deferSpec=20220824` or `incrementalSpec=v0.2`. Wildcards do not ask for multipart.
 */
export function parseMultipartAccept(accept: string | null): MultipartDelivery | undefined {
  if (!accept || !/multipart/i.test(accept)) return undefined
  let best: { readonly delivery: MultipartDelivery; readonly quality: number } | undefined
  for (const entry of accept.split(',')) {
    const [type, ...parameters] = entry.split(';').map((piece) => piece.trim())
    if (type?.toLowerCase() !== 'multipart/mixed') continue
    const quality = qualityOf(parameters)
    const delivery = quality > 0 ? deliveryOf(parameters) : undefined
    if (delivery && quality > (best?.quality ?? 0)) best = { delivery, quality }
  }
  return best?.delivery
}

function deliveryOf(parameters: readonly string[]): MultipartDelivery | undefined {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.replaceAll('"', '').split('=', 2)
    if (/^deferspec$/i.test(name)) {
      return value === '20220824' ? { format: 'patches', parameter: 'deferSpec=20220824' } : undefined
    }
    if (/^incrementalspec$/i.test(name)) {
      return value === 'v0.2' ? { format: 'pending', parameter: 'incrementalSpec=v0.2' } : undefined
    }
  }
  return { format: 'patches', parameter: undefined }
}

function qualityOf(parameters: readonly string[]): number {
  const named = parameters.find((parameter) => /^q=/i.test(parameter))
  const quality = named === undefined ? 1 : Number(named.slice(2))
  return Number.isNaN(quality) ? 0 : quality
}
