/** Decodes bytes in the form of Unicode whose mark they begin with, else as UTF-8 (YAML 1.2, section 5.2). */
export function textOf(bytes: Uint8Array): string {
  const mark = `${bytes[0]} ${bytes[1]}`
  const encoding = mark === '255 254' ? 'utf-16le' : mark === '254 255' ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}
