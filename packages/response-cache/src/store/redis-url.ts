export function isRedisUrl(url: string): boolean {
  return URL.canParse(url) && ['redis:', 'rediss:'].includes(new URL(url).protocol)
}
