/** An address for errors, without its user and password. */
export function withoutLogin(address: string): string {
  return address.replace(/^(\w+:\/\/)?.*@/s, '$1')
}

export function isRedisUrl(url: string): boolean {
  return URL.canParse(url) && ['redis:', 'rediss:'].includes(new URL(url).protocol)
}
