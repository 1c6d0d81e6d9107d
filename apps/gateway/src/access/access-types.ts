import type { Identity } from '../context/identity.ts'

/** An issuer of tokens. */
export interface IssuerConfig {
  /** The claim `iss` of the tokens. It must match exactly. */
  readonly issuer: string
  /** Accepted values of the claim `aud`. A token needs one of them. */
  readonly audience: string | readonly string[]
  /** URL of the public keys of the issuer. Default: the URL in the `.well-known/openid-configuration` of the issuer. */
  readonly jwksUri?: string | undefined
  /** Shared secret for tokens with HMAC, used instead of public keys. */
  readonly secret?: string | undefined
  /**
   * Accepted algorithms. Default: all RSA, ECDSA and EdDSA algorithms, or `HS256`, `HS384` and `HS512` if `secret` is
   * set.
   */
  readonly algorithms?: readonly string[] | undefined
}

/** JSON Web Tokens (RFC 7519). Invalid tokens are rejected with HTTP 401 on every transport. */
export interface JwtConfig {
  /** The issuers whose tokens are accepted. */
  readonly issuers: readonly IssuerConfig[]
  /** Whether requests without a token are rejected. Default false: access rules decide per field. */
  readonly required?: boolean | undefined
  /**
   * Request header with the token. WebSocket clients can send the same name in the payload of `connection_init`.
   * Default `authorization`.
   */
  readonly header?: string | undefined
  /** The word before the token. An empty string means that the header contains only the token. Default `Bearer`. */
  readonly scheme?: string | undefined
  /** Cookie that can contain the token instead. It requires `graphql.csrfPrevention`. Default: none. */
  readonly cookie?: string | undefined
  /** The claim with the scopes: a list, or a string separated by spaces. Default `scope`, or `scp` if it is missing. */
  readonly scopesClaim?: string | undefined
  /**
   * Request headers that are set from claims: `{ 'x-user-id': 'sub' }`. They replace headers of the client. Sources
   * that forward these headers receive them. Default: none.
   */
  readonly forwardClaims?: Readonly<Record<string, string>> | undefined
}

/** Authentication of callers. */
export interface AuthConfig {
  /** JSON Web Tokens that clients send. Invalid tokens are rejected with HTTP 401 on every transport. */
  readonly jwt: JwtConfig
}

/** Conditions for a field, or for all fields of a type. All conditions that are set must hold. */
export interface AccessRule {
  /** Requires a valid token. */
  readonly authenticated?: boolean | undefined
  /** Lists of scopes. The caller needs all scopes of one list. A flat list counts as one list. */
  readonly scopes?: readonly string[] | readonly (readonly string[])[] | undefined
  /** Lists of policies. The caller must meet all policies of one list. A flat list counts as one list. */
  readonly policies?: readonly string[] | readonly (readonly string[])[] | undefined
}

/** A policy that compares one claim. */
export interface ClaimPolicy {
  /** Name or path of the claim: `sub`, `realm_access.roles`. */
  readonly claim: string
  /** Values of which one must be the claim, or an item of it. */
  readonly is: readonly (string | number | boolean)[]
}

/** Whether a caller meets the policy. A function must be synchronous, and return the same result for equal claims. */
export type PolicyConfig = ClaimPolicy | ((identity: Identity | undefined) => boolean)

/** Access rules of fields and types. SDL and protos can contain the same rules. */
export interface AccessConfig {
  /** Rules by schema coordinate: `Query.orders`, `User.email`, or `Invoice` for all fields of a type. */
  readonly fields?: Readonly<Record<string, AccessRule>> | undefined
  /** Definitions of the policies by name. A caller never meets a policy without a definition. */
  readonly policies?: Readonly<Record<string, PolicyConfig>> | undefined
  /**
   * The effect of a refused field. `field`: the field is null, with an error at its path, and the other fields are
   * executed. `operation`: the operation is not executed. Mutations with a refused root field are never executed.
   * Default `field`.
   */
  readonly refuse?: 'field' | 'operation' | undefined
}

/** Documents that clients send by id. */
export interface PersistedDocumentsConfig {
  /**
   * Manifests of Apollo, Relay or graphql-codegen, or folders with `.graphql` files. The id of a file is its name, or
   * the SHA-256 of its text. Paths are relative to the config. Manifests can also be http or https URLs, which the
   * gateway reads at start and at each reload.
   */
  readonly from: string | readonly string[]
  /**
   * Whether clients can send other documents. `allow` executes them. `log` executes and logs them. `only` refuses them
   * before parsing with `PERSISTED_QUERY_ONLY`. Default `allow`.
   */
  readonly mode?: 'log' | 'allow' | 'only' | undefined
}

/** The sections of the config about authentication and access. */
export interface AccessSections {
  /** Authentication of callers. Default: callers are not identified. */
  readonly auth?: AuthConfig | undefined
  /** Access rules of fields and types. Default: all callers can access all fields. */
  readonly access?: AccessConfig | undefined
  /** Documents that clients send by id. Default: off. */
  readonly persistedDocuments?: PersistedDocumentsConfig | undefined
  /**
   * Automatic persisted queries: clients send a document once, and then its SHA-256. Gateways share the documents if
   * Redis is configured. Default false.
   */
  readonly apq?: boolean | undefined
}
