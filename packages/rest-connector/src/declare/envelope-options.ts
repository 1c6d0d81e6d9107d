import type { Described } from './described.ts'

/**
 * Makes the field an object: what the endpoint answers as `body`, and beside it what came around the body. Each endpoint
 * has such a type of its own.
 */
export interface EnvelopeOptions {
  /** Name of the object type. Default: the endpoint's in Pascal case and `Reply` (`ListPetsReply`). */
  readonly typeName?: string | undefined
  /**
   * Response headers, as the fields of `headers`: their names, which become fields in camel case and texts
   * (`X-Total-Count`: `xTotalCount: String`), or fields with a header and a type each. Default: none.
   */
  readonly headers?: readonly string[] | Readonly<Record<string, EnvelopeHeader>> | undefined
  /**
   * A field `next`: the answer to which this one's `Link` header leads with `rel="next"` (RFC 8288), of the same type;
   * null on the last page. Followed within the base URL only. For GET. Default false.
   */
  readonly next?: boolean | undefined
  /** Fields that ask other endpoints of the connector with what is in this answer. Default: none. */
  readonly links?: Readonly<Record<string, EnvelopeLink>> | undefined
}

/** One response header as a field. */
export interface EnvelopeHeader extends Described {
  /** The name of the header. */
  readonly header: string
  /** A scalar or a list of scalars, nullable: `Int`, `[String]`; lists come separated by commas. Default `String`. */
  readonly type?: string | undefined
}

/** A field that asks another endpoint, which must be a query. */
export interface EnvelopeLink extends Described {
  /** The name of the endpoint that is asked. */
  readonly endpoint: string
  /** Arguments of that endpoint; the others stay arguments of the field. Without a value for a required one it is null. */
  readonly args: Readonly<Record<string, LinkValue>>
}

/** The source of a link's argument. */
export type LinkValue =
  | LinkPart
  | {
      /** Texts and values, one behind the other; without one of the values there is none. */
      readonly text: readonly (string | LinkPart)[]
    }

/** A value of a call or of its answer; a path is written as in `responsePath`. */
export type LinkPart =
  | {
      /** A path into the body. */
      readonly body: string
    }
  | {
      /** The name of a response header. */
      readonly header: string
    }
  | {
      /** The name of an argument of the call. */
      readonly arg: string
      /** A path into that argument. Default: all of it. */
      readonly path?: string | undefined
    }
  | {
      /** The URL that was asked, or the status of the answer. */
      readonly exchange: 'url' | 'status'
    }
  | {
      /** The value itself. */
      readonly value: unknown
    }
