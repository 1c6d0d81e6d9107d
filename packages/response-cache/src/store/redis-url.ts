import { configError } from '../errors.ts'

/** Throws RESPONSE_CACHE_CONFIG if the URL is not a Redis address. The error omits user and password. */
export function checkRedisUrl(url: string | undefined): asserts url is string {
  if (url !== undefined && URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)) return
  const shown = url?.replace(/^(\w+:\/\/)?.*@/s, '$1')
  throw configError('redisUrl', shown, 'a URL such as redis://localhost:6379')
}
