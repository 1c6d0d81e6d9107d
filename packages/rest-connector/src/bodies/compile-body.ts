import { RestConfigError } from '../errors.ts'
import type { RenderedBody } from './wire-body.ts'
import { toJson } from '../json.ts'
import { isTextual, mediaTypeOf } from '../templates/body-template.ts'
import { argOf, toText, type Template } from '../templates/template.ts'
import type { BodyOptions } from './body-options.ts'
import { inBase64, isFile, toFile } from './file.ts'
import { compileForm } from './form-body.ts'
import { compileMultipart, streamOf } from './multipart-body.ts'

/** The body of a request from one argument; undefined: there is none, and no content type either. */
export type Body = Template<RenderedBody | undefined>

/** Chooses once, by the media type, how an argument becomes the body. */
export function compileArgumentBody(options: BodyOptions): Body {
  const { arg = 'input' } = options
  const write = writerOf(arg, options)
  return {
    variables: [arg],
    render(args) {
      const value = argOf(args, arg)
      return value === undefined || value === null ? undefined : write(value)
    },
  }
}

function writerOf(
  arg: string,
  { contentType = 'application/json', encoding = {}, isBase64 = false }: BodyOptions,
): (value: unknown) => RenderedBody {
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === '*/*') return (value) => ({ contentType: 'application/json', body: toJson(value) })
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(mediaType))
    throw new RestConfigError(`body.contentType "${contentType}" is not a valid media type`)
  if (/[/+]json$/.test(mediaType)) return (value) => ({ contentType, body: toJson(value) })
  if (mediaType === 'application/x-www-form-urlencoded') {
    const form = compileForm(arg, encoding)
    return (value) => ({ contentType, body: form(value) })
  }
  if (mediaType.startsWith('multipart/')) return compileMultipart(arg, mediaType, encoding)
  if (isTextual(mediaType))
    return (value) => ({ contentType, body: isFile(value) ? streamOf([value]) : toText(value, arg) })
  return (value) => {
    const file = toFile(value, arg)
    return { contentType, body: streamOf([isBase64 ? inBase64(file) : file]) }
  }
}
