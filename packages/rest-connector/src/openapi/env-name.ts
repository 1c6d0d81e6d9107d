/** The environment variable that a source reads: `SHOP_API_KEY` for `apiKey` of `shop`. */
export function envName(source: string, what: string): string {
  const words = [source, what].map((text) =>
    text
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, ''),
  )
  return words.join('_').toUpperCase()
}
