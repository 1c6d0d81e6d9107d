import { z } from 'zod'
import type {
  AccessConfig,
  AccessRule,
  AuthConfig,
  IssuerConfig,
  JwtConfig,
  PersistedDocumentsConfig,
} from './access-types.ts'
import { functionValue, headerName, type OptionsOf } from '../option-values.ts'
import { PUBLIC_KEY_ALGORITHMS, SECRET_ALGORITHMS } from './tokens/algorithms.ts'

const name = z.string().min(1)
const algorithm = z.enum([...PUBLIC_KEY_ALGORITHMS, ...SECRET_ALGORITHMS])

const issuer = z.strictObject({
  issuer: name,
  audience: z.union([name, z.array(name).min(1)]),
  jwksUri: z.string().optional(),
  secret: z
    .string()
    .min(32, 'expected at least 32 characters, for example from `openssl rand -hex 32`')
    .optional(),
  algorithms: z.array(algorithm).min(1).optional(),
} satisfies OptionsOf<IssuerConfig>)

/** The config's `auth`. */
export const auth: z.ZodType<AuthConfig> = z.strictObject({
  jwt: z.strictObject({
    issuers: z.array(issuer).min(1),
    required: z.boolean().optional(),
    header: headerName.optional(),
    scheme: z.string().optional(),
    cookie: name.optional(),
    scopesClaim: name.optional(),
    forwardClaims: z.record(headerName, z.string()).optional(),
  } satisfies OptionsOf<JwtConfig>),
} satisfies OptionsOf<AuthConfig>) as z.ZodType<AuthConfig>

const names = z.union([z.array(name).min(1), z.array(z.array(name).min(1)).min(1)])

const rule = z
  .strictObject({
    authenticated: z.literal(true).optional(),
    scopes: names.optional(),
    policies: names.optional(),
  } satisfies OptionsOf<AccessRule>)
  .refine((given) => Object.values(given).some((value) => value !== undefined), {
    error: 'the rule has no conditions; set authenticated, scopes or policies, or remove the rule',
  })

/** The config's `access`. */
export const access: z.ZodType<AccessConfig> = z.strictObject({
  fields: z.record(z.string(), rule).optional(),
  policies: z
    .record(
      z.string(),
      z.union([
        z.strictObject({ claim: name, is: z.array(z.union([z.string(), z.number(), z.boolean()])).min(1) }),
        functionValue(),
      ]),
    )
    .optional(),
  refuse: z.enum(['field', 'operation']).optional(),
} satisfies OptionsOf<AccessConfig>) as z.ZodType<AccessConfig>

/** The config's `persistedDocuments`. */
export const persistedDocuments: z.ZodType<PersistedDocumentsConfig> = z.strictObject({
  from: z.union([name, z.array(name).min(1)]),
  mode: z.enum(['log', 'allow', 'only']).optional(),
} satisfies OptionsOf<PersistedDocumentsConfig>) as z.ZodType<PersistedDocumentsConfig>
