import {
  assertValidSchema,
  type ASTNode,
  type ASTVisitor,
  type GraphQLError,
  isExecutableDefinitionNode,
  Kind,
  KnownDirectivesRule,
  KnownTypeNamesRule,
  specifiedRules,
  UniqueDirectivesPerLocationRule,
  validate,
  type ValidationContext,
  type ValidationRule,
  versionInfo,
} from 'graphql'
import { Walk, WalkContext } from './walk.ts'

/** graphql 17 sends a tracing event for each validation, so its own function is used. */
const isOwnWay = versionInfo.major > 16
/** Maximum number of errors by default, as in graphql. */
const MAX_ERRORS = 100
/**
 * graphql counts the lines from the beginning of the document again for each error. This is the maximum
 * number of lines that it counts for all errors of a document. A line is equivalent to 100 characters.
 */
const MAX_COUNTED_LINES = 100_000
const CHARACTERS_OF_LINE = 100

/**
 * Validates a document like graphql's `validate`, with the same errors in the same order, but runs all rules in one
 * walk. Long documents get fewer errors: see `MAX_COUNTED_LINES`. It calls graphql's own function if the walk ends
 * early, if the caller passes a `typeInfo`, or if the document defines types.
 */
export const validateInOneWalk: typeof validate = (
  schema,
  document,
  rules = specifiedRules,
  options,
  typeInfo,
) => {
  const { maxErrors: allowed = MAX_ERRORS } = options ?? {}
  const text = document.loc?.source.body ?? ''
  const lines = 1 + countLineBreaks(text) + text.length / CHARACTERS_OF_LINE
  const maxErrors = Math.min(allowed, Math.ceil(MAX_COUNTED_LINES / lines))
  const byGraphQL = (): readonly GraphQLError[] =>
    validate(schema, document, rules, { ...options, maxErrors }, typeInfo)
  const byOneWalk = (): readonly GraphQLError[] => {
    assertValidSchema(schema)
    const errors: GraphQLError[] = []
    const report = (error: GraphQLError): void => {
      if (errors.length >= maxErrors) throw error
      errors.push(error)
    }
    const context = new WalkContext(schema, document, report, options?.hideSuggestions ?? false)
    const visitors = rules.map((rule) => visitorOf(rule, context))
    new Walk(visitors, context).run(document)
    return errors
  }
  const isForGraphQL = isOwnWay || typeInfo || !document.definitions.every(isExecutableDefinitionNode)
  const { stackTraceLimit } = Error
  try {
    // Errors are created without a stack. The stack of a cached error would keep the walk and all its rules in
    // memory, about 25 kB.
    Error.stackTraceLimit = 0
    return isForGraphQL ? byGraphQL() : byOneWalk()
  } catch {
    Error.stackTraceLimit = stackTraceLimit
    return byGraphQL()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * Rule of graphql that reads the complete schema before it visits a node. `concerns` returns whether the rule
 * can report an error for a node. The rule is created only if that is true for a node of the document.
 */
interface Seldom {
  readonly kinds: readonly string[]
  concerns(node: ASTNode, context: ValidationContext): boolean
}

const SELDOM = new Map<ValidationRule, Seldom>([
  [
    KnownTypeNamesRule,
    {
      kinds: [Kind.NAMED_TYPE],
      concerns: (node, context) =>
        node.kind === Kind.NAMED_TYPE && !context.getSchema().getType(node.name.value),
    },
  ],
  [KnownDirectivesRule, { kinds: [Kind.DIRECTIVE], concerns: () => true }],
  [
    UniqueDirectivesPerLocationRule,
    {
      kinds: [
        Kind.OPERATION_DEFINITION,
        Kind.VARIABLE_DEFINITION,
        Kind.FIELD,
        Kind.FRAGMENT_SPREAD,
        Kind.INLINE_FRAGMENT,
        Kind.FRAGMENT_DEFINITION,
      ],
      concerns: (node) => 'directives' in node && (node.directives?.length ?? 0) > 0,
    },
  ],
])

type Enter = (this: ASTVisitor, node: ASTNode, ...others: readonly unknown[]) => unknown

function visitorOf(rule: ValidationRule, context: ValidationContext): ASTVisitor {
  const seldom = SELDOM.get(rule)
  if (!seldom) return rule(context)
  let visitor: ASTVisitor | undefined
  const enter: Enter = (node, ...others) => {
    if (!seldom.concerns(node, context)) return undefined
    visitor ??= rule(context)
    const member = (Reflect.get(visitor, node.kind) ?? Reflect.get(visitor, 'enter')) as Enter
    return member.call(visitor, node, ...others)
  }
  const standIn: Record<string, Enter> = {}
  for (const kind of seldom.kinds) standIn[kind] = enter
  return standIn as ASTVisitor
}

function countLineBreaks(text: string): number {
  let count = 0
  for (const one of '\n\r') for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1)) count++
  return count
}
